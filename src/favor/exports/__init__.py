"""Exports of what a person wrote: mail, chats, posts. One module per format; each is a corpus reader too."""
