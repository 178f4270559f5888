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

/** Follows the console of a program that answers no host, until it ends. */
public final class ImageConsole {
    private ImageConsole() {}

    /** Why nothing more is read. */
    public sealed interface End {
        /**
         * The image said that it ends.
         *
         * @param code what its main returned, or 70 after a fault
         */
        record Returned(int code) implements End {}

        /** The console ended without a word of the image. */
        record Closed() implements End {}

        /** The time was over. */
        record TimeOver() implements End {}

        /** The receiver had enough. */
        record Enough() implements End {}
    }

    /**
     * Hands over the text that an image prints.
     *
     * @param in what the image sends
     * @param limit time to read for
     * @param text gets the text as it comes
     * @param enough gets it too; true ends reading
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
