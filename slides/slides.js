// Right, Left and Space go from slide to slide; Down and Up scroll in one that is longer than the screen.
const scroll = lines => () => Reveal.getCurrentSlide().scrollBy({top: 40 * lines})
Reveal.initialize({
    width: 1280, height: 720, margin: 0.02, center: false, transition: "none", slideNumber: "c/t", hash: true,
    keyboard: {38: scroll(-3), 40: scroll(3)},
})
Reveal.on("fragmentshown", ({fragment}) => { Reveal.getCurrentSlide().scrollTop = fragment.offsetTop - 120 })
