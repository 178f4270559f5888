// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a frontend may read for a model.
 *
 * @param given most bytes of a file as the user says; empty for a limit that follows the board
 * @param boardBytes bytes of the memories in which the model must fit, 0 or more
 * @param dataFolder folder of an ONNX model's external data, as the user says; empty for the files directly beside the model
 */
public record ReadLimits(OptionalLong given, long boardBytes, Optional<Path> dataFolder) {
    /** Of a model that is read for no board: the formats' usual limits, and external data beside the model. */
    public static final ReadLimits STANDARD = new ReadLimits(OptionalLong.empty(), 0, Optional.empty());

    /** A float model is four times as large as the model of 8-bit integers that the build makes of it. */
    private static final long FLOAT_SIZE = 4;

    /** Largest array of the Java platform. */
    private static final long LARGEST = Integer.MAX_VALUE - 8L;

    public ReadLimits {
        if (boardBytes < 0 || (given.isPresent() && given.getAsLong() < 1)) {
            throw new IllegalArgumentException("no size: " + given + ", " + boardBytes);
        }
    }

    /** The limits of a model for this computer: a quarter of the heap, because a model is held several times while it is compiled. */
    public static long hostBytes() {
        return Runtime.getRuntime().maxMemory() / 4 / FLOAT_SIZE;
    }

    /**
     * The most bytes of a file.
     *
     * @param usual the format's limit for boards with small memories
     */
    public long most(long usual) {
        long board = Math.min(boardBytes, LARGEST) * FLOAT_SIZE;
        return Math.min(LARGEST, given.orElse(Math.max(usual, board)));
    }

    /**
     * Refuses a file that is too large.
     *
     * @param usual as for {@link #most}
     * @throws KilnException if it is larger than the limit
     */
    public void check(long size, String where, long usual) {
        if (size > most(usual)) {
            throw Failure.MODEL.exception(
                    String.format(Locale.ROOT, "the file has %,d bytes", size),
                    where,
                    String.format(Locale.ROOT, "at most %,d bytes", most(usual))
                            + (given.isPresent() ? " (kiln.limit.model)" : ", " + reason(usual)),
                    "Choose a model that fits the board, or raise kiln.limit.model");
        }
    }

    private String reason(long usual) {
        return most(usual) > usual
                ? FLOAT_SIZE + " times the memories of the board, or a quarter of the heap"
                : "the usual limit of boards with small memories";
    }
}
