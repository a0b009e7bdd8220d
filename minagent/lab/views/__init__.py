"""Widgets and plots. No logic, and nothing imports them.

widgets             what all views share, and two small ones
crash_lab_widget    the crash lab
explorer_widget     the frequency explorer
own_kernel          the kernel that the reader sits in, killed
table               numbers under heads, as HTML and as text
plots               data -> matplotlib Axes
"""
