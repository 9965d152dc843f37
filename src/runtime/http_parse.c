/* http_parse.c */
