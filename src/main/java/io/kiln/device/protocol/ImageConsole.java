// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
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
         * @param stackUsed the deepest use of its stack in bytes, if it knows
         */
        record Returned(int code, OptionalLong stackUsed) implements End {}

        /** The console was closed without a report from the image. */
        record Closed() implements End {}

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
        return follow(new TimedInput(in), limit, text, enough);
    }

    /** Passes on the text of a source, which is closed afterwards; the time limit is held against the source's own clock. */
    public static End follow(TimedBytes in, Duration limit, Consumer<String> text, Predicate<String> enough) {
        boolean[] hasEnough = new boolean[1];
        Consumer<String> both = piece -> {
            text.accept(piece);
            hasEnough[0] |= enough.test(piece);
        };
        try (FrameReader received = new FrameReader(in, both, ImageEnd.BYTES)) {
            long deadline = received.now() + limit.toNanos();
            int value = received.next(deadline);
            for (; value >= 0; value = received.next(deadline)) {
                Optional<Bytes> frame = received.take(value);
                Optional<ImageEnd> end = frame.flatMap(ImageEnd::in);
                if (hasEnough[0]) {
                    return new End.Enough();
                }
                if (end.isPresent()) {
                    return new End.Returned(end.get().code(), end.get().stackUsed());
                }
            }
            return value == TimedBytes.END ? new End.Closed() : new End.TimeOver();
        }
    }
}
