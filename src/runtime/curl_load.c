/* curl_load.c */
