/* http_server.c */
