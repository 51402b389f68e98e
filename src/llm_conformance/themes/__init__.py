"""What is searched: scenarios drawn for one API, a theme each."""
