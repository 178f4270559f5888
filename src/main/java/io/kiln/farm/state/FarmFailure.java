// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.state;

/**
 * A job that failed or was given up.
 *
 * @param job its id
 * @param board id of the board
 * @param place {@code emulator} or {@code board}
 * @param worker who says so; empty for a job that killed its workers
 * @param time in ISO form
 * @param reason why, for people
 */
public record FarmFailure(String job, String board, String place, String worker, String time, String reason) {
    private static final int LONGEST = 500;

    public FarmFailure {
        reason = reason.length() <= LONGEST ? reason : reason.substring(0, LONGEST) + "…";
    }
}
