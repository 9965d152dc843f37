/* blob_dead.c -- see blob_dead.h.
 *
 * Freeing 100 MiB takes SQLite half a second, for which all other writers would wait. So what is replaced,
 * removed or dropped is only noted; its bytes go in pieces: some by whoever stores bytes, in proportion to
 * these, and some as a chore of each batch of writes. Until they are gone, a stream that began before may go
 * on reading them.
 *
 * SPDX-License-Identifier: MIT */
#include "storage/embedded/blob_dead.h"

#include "storage/embedded/blob_rows.h"
#include "storage/embedded/schema.h"
#include "storage/embedded/sql_bind.h"

enum {
    CHORE_BYTES = MIB,   /* some 5 ms */
    PART_COST = 4 * KIB, /* of a part, however short it is */
    PIECE_BLOBS = 256,   /* of a container; as in the statements below */
};

res blob_dead_add(engine_conn *c, int64_t generation, engine_outcome *out)
{
    engine_wake_chores(c);
    return blob_rows_run(c, "INSERT INTO blob_dead (generation) VALUES (?1)", generation, out);
}

res blob_dead_add_container(engine_conn *c, int64_t id, engine_outcome *out)
{
    engine_wake_chores(c);
    return blob_rows_run(c, "INSERT INTO containers_dead (id) VALUES (?1)", id, out);
}

static res read_number(engine_conn *c, const char *sql, int64_t *ret, bool *ret_there, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    *ret_there = engine_step(c, s, out);
    if (*ret_there)
        *ret = sqlite3_column_int64(s, 0);
    return out->result;
}

typedef struct {
    int64_t last; /* start of its last part */
    int64_t cost; /* in bytes */
    bool    rest; /* nothing of the generation is behind it */
} piece;

/* The next parts of a generation: at least one, then as many as the budget allows. */
static res choose(engine_conn *c, int64_t generation, int64_t budget, piece *ret, engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c,
                                     "SELECT p.start, length(d.bytes) FROM blob_parts p"
                                     " JOIN blob_data d ON d.id = p.data"
                                     " WHERE p.generation = ?1 ORDER BY p.start",
                                     out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, generation);
    *ret = (piece){.cost = PART_COST};
    while (ret->cost < budget || ret->cost == PART_COST) {
        if (!engine_step(c, s, out)) {
            ret->rest = true;
            break;
        }
        ret->last = sqlite3_column_int64(s, 0);
        ret->cost += PART_COST + sqlite3_column_int64(s, 1);
    }
    return out->result;
}

static res drop_piece(engine_conn *c, const char *sql, int64_t generation, const piece *p,
                      engine_outcome *out)
{
    sqlite3_stmt *s = engine_prepare(c, sql, out);
    if (s == NULL)
        return out->result;
    bind_int(s, 1, generation);
    bind_int(s, 2, p->last);
    (void)engine_step(c, s, out); /* never a row; failures are in *out */
    return out->result;
}

/* What it has cost is taken off *budget. */
static res collect_generation(engine_conn *c, int64_t generation, int64_t *budget, engine_outcome *out)
{
    piece p = {.rest = false};
    TRY(choose(c, generation, *budget, &p, out));
    *budget -= p.cost;
    TRY(drop_piece(c,
                   "DELETE FROM blob_data WHERE id IN"
                   " (SELECT data FROM blob_parts WHERE generation = ?1 AND start <= ?2)",
                   generation, &p, out));
    TRY(drop_piece(c, "DELETE FROM blob_parts WHERE generation = ?1 AND start <= ?2", generation, &p, out));
    if (!p.rest)
        return RES_OK;
    return blob_rows_run(c, "DELETE FROM blob_dead WHERE generation = ?1", generation, out);
}

/* The blobs of a container without a name become dead generations, PIECE_BLOBS at once. What was staged
 * for it goes with what is staged for too long. */
static res collect_container(engine_conn *c, int64_t id, int64_t *budget, engine_outcome *out)
{
    *budget -= PIECE_BLOBS * KIB;
    TRY(blob_rows_run(c,
                      "INSERT INTO blob_dead SELECT generation FROM blobs WHERE container = ?1"
                      " ORDER BY name LIMIT 256",
                      id, out));
    TRY(blob_rows_run(c,
                      "DELETE FROM blobs WHERE container = ?1 AND name IN"
                      " (SELECT name FROM blobs WHERE container = ?1 ORDER BY name LIMIT 256)",
                      id, out));
    return blob_rows_run(c,
                         "DELETE FROM containers_dead WHERE id = ?1"
                         " AND NOT EXISTS (SELECT 1 FROM blobs WHERE container = ?1)",
                         id, out);
}

/* Generations first: a container adds to them. */
static res collect(engine_conn *c, int64_t budget, bool *ret_more, engine_outcome *out)
{
    bool more = true;
    while (more && budget > 0) {
        int64_t id = 0;
        TRY(read_number(c, "SELECT generation FROM blob_dead ORDER BY generation LIMIT 1", &id, &more, out));
        if (more) {
            TRY(collect_generation(c, id, &budget, out));
            continue;
        }
        TRY(read_number(c, "SELECT id FROM containers_dead ORDER BY id LIMIT 1", &id, &more, out));
        if (more)
            TRY(collect_container(c, id, &budget, out));
    }
    *ret_more = more;
    return RES_OK;
}

res blob_dead_collect_for(engine_conn *c, size_t stored_bytes, engine_outcome *out)
{
    bool more = false;
    return collect(c, 2 * (int64_t)stored_bytes + 1, &more, out);
}

bool blobs_chore(engine_conn *c, engine_outcome *out)
{
    bool more = true;
    return collect(c, CHORE_BYTES, &more, out) != RES_OK || more;
}
