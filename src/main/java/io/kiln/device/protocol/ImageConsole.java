// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import io.kiln.device.transport.FrameReader;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Follows the console of a program that does not answer the host, until it ends. */
public final class ImageConsole {
    private ImageConsole() {}

    /** Why reading ended. */
    public sealed interface End {
        /**
         * The image reported its end.
         *
         * @param code the return value of its main, or 70 after a fault
         */
        record Returned(int code) implements End {}

        /** The console was closed without a report from the image. */
        record Closed() implements End {}

        /** The time limit was reached. */
        record TimeOver() implements End {}

        /** The receiver ended reading. */
        record Enough() implements End {}
    }

    /**
     * Passes on the text that an image prints.
     *
     * @param in what the image sends
     * @param limit time limit for reading
     * @param text gets the text as it arrives
     * @param enough also gets the text; true ends reading
     * @throws io.kiln.base.KilnException if the image prints more than 4 MiB or 100,000 lines of text
     */
    public static End follow(InputStream in, Duration limit, Consumer<String> text, Predicate<String> enough) {
        boolean[] hasEnough = new boolean[1];
        Consumer<String> both = piece -> {
            text.accept(piece);
            hasEnough[0] |= enough.test(piece);
        };
        try (FrameReader received = new FrameReader(in, both, ImageEnd.BYTES)) {
            long deadline = System.nanoTime() + limit.toNanos();
            for (int value = received.next(deadline); value >= 0; value = received.next(deadline)) {
                Optional<Bytes> frame = received.take(value);
                OptionalInt code = frame.map(ImageEnd::code).orElse(OptionalInt.empty());
                if (hasEnough[0]) {
                    return new End.Enough();
                }
                if (code.isPresent()) {
                    return new End.Returned(code.getAsInt());
                }
            }
            return System.nanoTime() < deadline ? new End.Closed() : new End.TimeOver();
        }
    }
}
