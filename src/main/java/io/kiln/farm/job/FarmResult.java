// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import java.util.Arrays;

/**
 * The result of a job.
 *
 * @param job its id
 * @param digest of the job that was run, so that an answer to another one is noticed; empty for a job that was not
 * @param worker name of the worker
 * @param ranOn what ran the image, as reports name it
 * @param answer its outcome
 * @param console the end of what a board printed, as it printed it; empty for emulators
 */
public record FarmResult(String job, String digest, String worker, String ranOn, FarmAnswer answer, Bytes console) {
    /** Most bytes of a console that are kept. */
    public static final int MOST_CONSOLE = 64 << 10;

    public FarmResult {
        if (console.size() > MOST_CONSOLE) {
            console = Bytes.wrap(Arrays.copyOfRange(console.toArray(), console.size() - MOST_CONSOLE, console.size()));
        }
    }

    /** A result without a console. */
    public FarmResult(String job, String digest, String worker, String ranOn, FarmAnswer answer) {
        this(job, digest, worker, ranOn, answer, Bytes.wrap(new byte[0]));
    }
}
