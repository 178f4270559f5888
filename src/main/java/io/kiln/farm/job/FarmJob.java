// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A job: an image, and what to do with it. A worker runs nothing of it outside of an emulator or a board.
 *
 * @param id 32 hexadecimal digits, another for each job
 * @param board id of the board that the image is linked for; the worker has its own description of it
 * @param place where the image runs
 * @param limit time after which it is stopped, 1 s to an hour
 * @param image the ELF file
 * @param task what to do
 */
public record FarmJob(String id, String board, RunPlace place, Duration limit, Bytes image, FarmTask task) {
    private static final Pattern ID = Pattern.compile("[0-9a-f]{32}");
    private static final Pattern BOARD = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,79}");
    private static final Duration LONGEST = Duration.ofHours(1);

    /** @throws KilnException if an id or the limit is out of its range */
    public FarmJob {
        require(isId(id), "the id `" + id + "`", "32 hexadecimal digits");
        require(isBoard(board), "the board `" + board + "`", "a board's id");
        require(
                limit.compareTo(Duration.ofSeconds(1)) >= 0 && limit.compareTo(LONGEST) <= 0,
                "the limit " + limit.toSeconds() + " s",
                "1 s to " + LONGEST.toSeconds() + " s");
    }

    /** A job with an id of its own. A limit of more than an hour becomes an hour. */
    public static FarmJob of(String board, RunPlace place, Duration limit, Bytes image, FarmTask task) {
        return new FarmJob(newId(), board, place, limit.compareTo(LONGEST) > 0 ? LONGEST : limit, image, task);
    }

    /** An id that nothing else has. */
    public static String newId() {
        return UUID.randomUUID().toString().replace("-", "");
    }

    /** Whether a text is an id of a job or of whoever waits for one. */
    public static boolean isId(String text) {
        return ID.matcher(text).matches();
    }

    /** Whether a text may be a board's id. */
    public static boolean isBoard(String text) {
        return BOARD.matcher(text).matches();
    }

    private static void require(boolean holds, String what, String expected) {
        if (!holds) {
            throw Failure.FARM.exception("a job has " + what, "", expected);
        }
    }
}
