// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import io.kiln.report.Json.OrEmpty;
import io.kiln.report.Json.OrNull;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Content of {@code front.json}: measured images of the same models, made for different goals, and the one that was taken. All sizes are in
 * bytes.
 *
 * @param board id of the board
 * @param currency what is counted of one inference: {@link #BOARD_CYCLES}, {@link #ZERO_WAIT_CYCLES} or {@link #INSTRUCTIONS}
 * @param flashLimit the most flash that an image may take; null for any
 * @param ramLimit the most RAM that an image may take; null for any
 * @param images the fastest first
 */
public record FrontReport(
        String board,
        String currency,

        @OrNull Long flashLimit,

        @OrNull Long ramLimit,

        List<Image> images) {
    /** Cycles with the waits of the board's memories. */
    public static final String BOARD_CYCLES = "board cycles";

    public static final String ZERO_WAIT_CYCLES = "zero-wait cycles";

    /** Instructions, where no timings are known of the core. */
    public static final String INSTRUCTIONS = "instructions";

    public FrontReport {
        images = List.copyOf(images);
    }

    /**
     * An image.
     *
     * @param title what it was made for, for people
     * @param cycles of one inference, in the report's currency
     * @param flash bytes of read-only memory
     * @param ram bytes of writable memory
     * @param fits whether it fits in the board and the limits
     * @param isUnbeaten whether no other image is at most as large in all three, and smaller in one
     * @param isTaken whether it is the image of the build
     * @param way how it is made again
     */
    public record Image(
            String title,
            long cycles,
            long flash,
            long ram,
            boolean fits,
            boolean isUnbeaten,
            boolean isTaken,
            Way way) {
        /** One line for people. */
        public String text() {
            return String.format(
                    Locale.ROOT, "%,14d  %,10d flash  %,10d RAM  %s%s", cycles, flash, ram, title, remark());
        }

        /** What is to be said of it, for people. */
        public String remark() {
            return (isTaken ? ", taken" : "") + (fits ? "" : ", does not fit");
        }
    }

    /**
     * The goals of an image: values of {@code kiln.optimize}, for layers also {@code short}.
     *
     * @param code of the C compiler and of all but the layers
     * @param plan of the order of operators and of their rows
     * @param layers of layers, by the names of their C functions; others have that of the code
     */
    public record Way(String code, String plan, @OrEmpty SortedMap<String, String> layers) {

        public Way {
            layers = new TreeMap<>(layers == null ? Map.of() : layers);
        }
    }

    /** The images that no other beats, and the one that was taken. */
    public List<Image> shown() {
        return images.stream()
                .filter(image -> image.isUnbeaten || image.isTaken)
                .toList();
    }

    public Image taken() {
        return images.stream().filter(Image::isTaken).findFirst().orElseThrow();
    }

    /** Lines for people. */
    public Stream<String> lines() {
        return Stream.concat(
                Stream.of(String.format(
                        Locale.ROOT, "The images that no other beats, of %d: %s, flash, RAM", images.size(), currency)),
                shown().stream().map(Image::text));
    }
}
