/* http_header.c */
