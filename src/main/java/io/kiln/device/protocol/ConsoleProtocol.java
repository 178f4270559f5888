// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole.ImageEnd;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.transport.FrameReader;
import io.kiln.device.transport.FrameReader.Frames;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.TimedBytes;
import io.kiln.device.transport.TimedInput;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * The protocol of the default application: microTVM's framing on the console, as described in {@code kiln_app.h}.
 *
 * @param limit longest time without an answer, for each request, and for the banner of a program that starts with the
 * transport, where none is set
 * @param limits what is set
 */
public record ConsoleProtocol(Duration limit, SessionLimits limits) implements Protocol {
    /** Longest wait for the banner of a program that may have printed it already. */
    private static final Duration TO_BOOT = Duration.ofSeconds(3);

    /** The protocol without limits of a user. */
    public ConsoleProtocol(Duration limit) {
        this(limit, SessionLimits.USUAL);
    }

    @Override
    public FirmwareSession connect(Transport transport, Consumer<String> text) {
        boolean ownsProgram = transport.ownsProgram();
        SessionLimits set = limits.of(ownsProgram);
        Duration toBoot = set.start().orElse(ownsProgram ? limit : TO_BOOT);
        Duration toAnswer = set.answer().orElse(limit);
        return ownsProgram
                ? FirmwareSession.open(transport.input(), transport.output(), toBoot, toAnswer, text)
                : FirmwareSession.join(transport.input(), transport.output(), toBoot, toAnswer, text);
    }

    /**
     * A session with the default application, whose protocol is described in {@code kiln_app.h}. The host sends nothing
     * before the application's banner, because a UART that is not ready drops early bytes. An image that ends sends a
     * packet of its own, so a caller that waits for another answer learns the exit code. Not thread-safe.
     */
    static final class FirmwareSession implements ModelSession {
        /** First words of the line that the application prints when it is ready. */
        public static final String BANNER = "kiln: ready";

        private static final int INFO = 1;
        private static final int RUN = 2;
        private static final int EXIT = 3;
        private static final int DAMAGED_REPLY = 0x80;
        private static final int OK = 0;
        private static final int FAILED = 4;
        private static final int ATTEMPTS = 3;

        /** So many starts while an answer is awaited are a loop. */
        private static final int LOOP = 3;

        private static final String BANNER_LINE = "the line \"" + BANNER + "\"";
        private static final Duration TO_ANSWER = Duration.ofSeconds(3);
        private static final Duration TO_LEAVE = Duration.ofSeconds(2);

        /** Most bytes of an answer to a request for information, more than the list of 255 models needs. */
        private static final int MOST_INFORMATION = 1 << 20;

        private static final long MOST_OUTPUTS = 64 << 20;
        private static final int VERSION = 1;

        private final FrameReader received;
        private final OutputStream out;
        private final Duration timeout;
        private boolean isLeaving;
        private OptionalLong stackUsed = OptionalLong.empty();

        private FirmwareSession(InputStream in, OutputStream out, Duration timeout, Consumer<String> console) {
            this.received = new FrameReader(in, console, MOST_INFORMATION);
            this.out = out;
            this.timeout = timeout;
        }

        /**
         * Waits for the banner.
         *
         * @param in what the image sends
         * @param out what the image reads
         * @param toBoot longest wait for the banner
         * @param timeout longest time without an answer, for each request
         * @param console gets the text printed by the image, as it arrives
         * @throws KilnException with the text so far if no banner arrives
         */
        public static FirmwareSession open(
                InputStream in, OutputStream out, Duration toBoot, Duration timeout, Consumer<String> console) {
            FirmwareSession session = new FirmwareSession(in, out, timeout, console);
            session.awaitBanner(toBoot);
            return session;
        }

        /**
         * Connects to an application that is booting or already runs, as on a board. Waits for the banner; if none arrives,
         * it was missed, and the application is asked for a sign of life.
         *
         * @param toBoot longest wait for the banner
         * @param timeout longest time without an answer, for each later request
         * @throws KilnException if nothing answers; says whether something else is sending
         */
        public static FirmwareSession join(
                InputStream in, OutputStream out, Duration toBoot, Duration timeout, Consumer<String> console) {
            FirmwareSession session = new FirmwareSession(in, out, timeout, console);
            if (!session.hasBannerWithin(toBoot)) {
                session.requestInformation();
            }
            return session;
        }

        @Override
        public List<Model> models() {
            ByteBuffer reply = ask(INFO, new byte[0]);
            try {
                return models(reply);
            } catch (BufferUnderflowException e) {
                throw failure("the image's list of models is cut short, or of another version", "a whole list");
            }
        }

        @Override
        public List<Bytes> run(int index, Model model, List<Bytes> inputs) {
            ByteArrayOutputStream request = new ByteArrayOutputStream();
            request.write(index);
            for (int i = 0; i < inputs.size(); i++) {
                request.writeBytes(inputs.get(i).toArray());
            }
            List<Integer> given = inputs.stream().map(Bytes::size).toList();
            if (!given.equals(model.inputBytes())) {
                throw failure(
                        "model " + model.name() + " was given inputs of " + given + " bytes",
                        model.inputBytes() + " bytes");
            }
            long expected =
                    model.outputBytes().stream().mapToLong(Integer::longValue).sum();
            received.expect((int) Math.max(MOST_INFORMATION, Math.min(MOST_OUTPUTS, expected + 2)));
            ByteBuffer reply = ask(RUN, request.toByteArray());
            if (reply.remaining() != expected) {
                throw failure(
                        "model " + model.name() + " answered " + reply.remaining() + " bytes", expected + " bytes");
            }
            List<Bytes> outputs = new ArrayList<>();
            for (int size : model.outputBytes()) {
                byte[] output = new byte[size];
                reply.get(output);
                outputs.add(Bytes.wrap(output));
            }
            return List.copyOf(outputs);
        }

        /** Ends the application; a board whose own code does not report its end is waited for at most two seconds. */
        @Override
        public void exit() {
            isLeaving = true;
            ask(EXIT, new byte[0]);
            long deadline = System.nanoTime() + TO_LEAVE.toNanos();
            for (int value = received.next(deadline); value >= 0; value = received.next(deadline)) {
                Optional<ImageEnd> end = take(value).flatMap(ImageEnd::in);
                if (end.isPresent()) {
                    stackUsed = end.get().stackUsed();
                    return;
                }
            }
        }

        @Override
        public OptionalLong stackUsed() {
            return stackUsed;
        }

        /** The last text printed outside frames. */
        public String text() {
            return received.text();
        }

        private ByteBuffer ask(int request, byte[] arguments) {
            byte[] payload = new byte[arguments.length + 1];
            payload[0] = (byte) request;
            System.arraycopy(arguments, 0, payload, 1, arguments.length);
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                send(Frames.encode(Bytes.wrap(payload)));
                Bytes reply = receive();
                if (reply.size() < 2) {
                    throw failure("the image sent a reply of " + reply.size() + " bytes", "at least 2");
                }
                if ((reply.get(0) & 0xFF) != DAMAGED_REPLY) {
                    return checked(request, reply);
                }
            }
            throw failure("the image received a damaged request " + ATTEMPTS + " times", "a line without faults");
        }

        private ByteBuffer checked(int request, Bytes reply) {
            ByteBuffer buffer = reply.buffer().order(ByteOrder.LITTLE_ENDIAN);
            int answered = buffer.get() & 0xFF;
            int status = buffer.get() & 0xFF;
            if (answered != request + 0x80) {
                throw failure("the image answered request " + (answered - 0x80), "an answer to request " + request);
            }
            if (status == FAILED && buffer.remaining() == 4) {
                throw failure("the model returned error " + buffer.getInt(), "0");
            }
            if (status != OK) {
                throw failure("the image refused request " + request + " with status " + status, "status 0");
            }
            return buffer;
        }

        private void send(byte[] wire) {
            try {
                out.write(wire);
                out.flush();
            } catch (IOException e) {
                throw new KilnException(
                        Failure.RUN.problem("the image no longer receives requests", "console", "", received.printed()),
                        e);
            }
        }

        private Bytes receive() {
            long deadline = System.nanoTime() + timeout.toNanos();
            Optional<Bytes> frame = Optional.empty();
            int starts = 0;
            boolean isReady = received.endedLineWith(BANNER);
            while (frame.isEmpty()) {
                int value = received.next(deadline);
                if (value < 0 && starts > 0) {
                    throw restarted("the image started again in place of an answer");
                }
                frame = take(checked(value, timeout, "an answer"));
                // One start may be left over from before: that of a board whose port resets it, for example.
                boolean wasReady = isReady;
                isReady = received.endedLineWith(BANNER);
                starts += isReady && !wasReady ? 1 : 0;
                if (starts == LOOP) {
                    throw restarted("the image starts again and again: " + LOOP + " times in place of an answer");
                }
            }
            return frame.get();
        }

        private KilnException restarted(String what) {
            return Failure.RUN.exception(
                    what,
                    "console",
                    "an answer",
                    received.printed()
                            + ". Look for a fault of its own code, a watchdog that is not fed, and the board's supply");
        }

        /** Handles a byte; an image that ended by a fault or an error does not answer any more. */
        private Optional<Bytes> take(int value) {
            Optional<Bytes> frame = received.take(value);
            Optional<Integer> code = frame.flatMap(ImageEnd::in).map(ImageEnd::code);
            if (code.isPresent() && (code.get() != 0 || !isLeaving)) {
                throw failure("the image ended with code " + code.get(), isLeaving ? "code 0" : "a running image");
            }
            return frame;
        }

        private void awaitBanner(Duration toBoot) {
            long deadline = System.nanoTime() + toBoot.toNanos();
            do {
                take(checked(received.next(deadline), toBoot, BANNER_LINE));
            } while (!received.endedLineWith(BANNER));
        }

        private boolean hasBannerWithin(Duration time) {
            long deadline = System.nanoTime() + time.toNanos();
            for (int value = received.next(deadline); value != TimedBytes.LATE; value = received.next(deadline)) {
                if (value == TimedBytes.END) {
                    throw failure("the connection was lost", BANNER_LINE);
                }
                take(value);
                if (received.endedLineWith(BANNER)) {
                    return true;
                }
            }
            return false;
        }

        /** Requests information and waits for any complete frame; whether it is the right one shows later. */
        private void requestInformation() {
            send(Frames.encode(Bytes.wrap(new byte[] {INFO})));
            long deadline = System.nanoTime() + Math.min(TO_ANSWER.toNanos(), timeout.toNanos());
            for (int value = received.next(deadline); value >= 0; value = received.next(deadline)) {
                if (take(value).isPresent()) {
                    return;
                }
            }
            throw received.saidNothing()
                    ? Failure.RUN.exception(
                            "the board sends nothing",
                            "console",
                            BANNER_LINE + ", or an answer",
                            "Check console.uart and console.baud in board.yaml, the cable, and whether another program"
                                    + " reads the port")
                    : Failure.RUN.exception(
                            "the program on the board is not Kiln's default application",
                            "console",
                            BANNER_LINE + ", or an answer",
                            received.printed() + ". Flash the image (without kiln.flash.skip), or check the baud"
                                    + " rate if this is gibberish");
        }

        private int checked(int value, Duration limit, String expected) {
            if (value == TimedBytes.LATE) {
                throw failure("the image did not answer within " + limit.toSeconds() + " s", expected);
            }
            if (value == TimedBytes.END) {
                throw failure("the image ended", expected);
            }
            return value;
        }

        private KilnException failure(String what, String expected) {
            return Failure.RUN.exception(what, "console", expected, received.printed());
        }

        /** Stops reading from the image. */
        @Override
        public void close() {
            received.close();
        }

        /**
         * The models in the answer to a request for information, in the layout of {@code kiln_app.h}.
         *
         * @param reply little-endian, starting behind the status
         * @throws BufferUnderflowException if the list is truncated, of another version, or has a negative size
         */
        private static List<Model> models(ByteBuffer reply) {
            if (reply.get() != VERSION) {
                throw new BufferUnderflowException();
            }
            int count = reply.get() & 0xFF;
            List<Model> models = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                byte[] name = new byte[reply.get() & 0xFF];
                reply.get(name);
                int inputs = reply.get() & 0xFF;
                int outputs = reply.get() & 0xFF;
                models.add(new Model(
                        new String(name, StandardCharsets.UTF_8), sizes(reply, inputs), sizes(reply, outputs)));
            }
            return List.copyOf(models);
        }

        private static List<Integer> sizes(ByteBuffer reply, int count) {
            List<Integer> sizes = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int size = reply.getInt();
                if (size < 0) {
                    throw new BufferUnderflowException();
                }
                sizes.add(size);
            }
            return sizes;
        }
    }

    /** Follows the console of a program that does not answer the host, until it ends. */
    public static final class ImageConsole {
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

        /**
         * The packet by which an image reports its end, sent by {@code kiln_end.h}.
         *
         * @param code its exit code
         * @param stackUsed the deepest use of its stack in bytes; empty if its start-up code does not know
         */
        public record ImageEnd(int code, OptionalLong stackUsed) {
            /** Most bytes of the payload: {@code exit}, the code, and the use of the stack, which a board's own code may leave out. */
            static final int BYTES = 12;

            private static final int WITHOUT_STACK = 8;
            private static final int MARK = 'e' | 'x' << 8 | 'i' << 16 | 't' << 24;

            /** What the payload says, if it is such a packet. */
            public static Optional<ImageEnd> in(Bytes payload) {
                if (payload.size() != BYTES && payload.size() != WITHOUT_STACK) {
                    return Optional.empty();
                }
                ByteBuffer words = payload.buffer().order(ByteOrder.LITTLE_ENDIAN);
                if (words.getInt(0) != MARK) {
                    return Optional.empty();
                }
                long used = payload.size() == BYTES ? Integer.toUnsignedLong(words.getInt(8)) : 0;
                return Optional.of(
                        new ImageEnd(words.getInt(4), used == 0 ? OptionalLong.empty() : OptionalLong.of(used)));
            }
        }
    }
}
