/* http_write.c */
