"""Changes of good answers: does a rule about servers notice each?

changes      what is changed: fields of documents, and events of streams
__main__     asks the reference servers, judges each change, and prints a table and the changes that no rule notices
"""
