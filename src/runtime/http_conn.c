/* http_conn.c */
