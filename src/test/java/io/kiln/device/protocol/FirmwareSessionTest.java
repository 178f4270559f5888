// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.device.protocol.ConsoleProtocol.FirmwareSession;
import io.kiln.device.protocol.ConsoleProtocol.ImageConsole;
import io.kiln.device.protocol.ModelSession.Model;
import io.kiln.device.transport.FrameReader.Frames;
import io.kiln.device.transport.SessionLimits;
import io.kiln.device.transport.Transport;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a host does with what an image may send; the images themselves run in the emulator's tests. */
@Timeout(value = 20, unit = TimeUnit.SECONDS)
class FirmwareSessionTest {
    private static final Duration SOON = Duration.ofMillis(300);

    /** For what ends by itself. */
    private static final Duration LATE = Duration.ofSeconds(18);

    private static final Model MODEL = new Model("m", List.of(2), List.of(1, 3));

    @Test
    void nothingIsSentBeforeTheBanner() {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        assertThatThrownBy(() -> FirmwareSession.open(image("booting\n"), sent, SOON, SOON, text -> {}))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("kiln: ready")
                .hasMessageContaining("booting");
        assertThat(sent.size()).isZero();
    }

    @Test
    void anImageThatKeepsQuietIsGivenUp() throws Exception {
        try (PipedOutputStream quiet = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(quiet)) {
            assertThatThrownBy(() -> FirmwareSession.open(in, OutputStream.nullOutputStream(), SOON, SOON, text -> {}))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("did not answer")
                    .hasMessageContaining("It printed nothing");
        }
    }

    /** The limits that a user sets hold on a board's line and on an emulator's, where they grow at most twelvefold. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void limitsOfStartAndAnswerAreTheUsers(boolean isEmulated) throws Exception {
        Optional<Duration> soon = Optional.of(Duration.ofMillis(20));
        SessionLimits start = new SessionLimits(soon, Optional.empty());
        try (PipedOutputStream quiet = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(quiet)) {
            Protocol protocol = new ConsoleProtocol(isEmulated ? LATE : SOON, start);
            assertThatThrownBy(() -> protocol.connect(new Line(in, isEmulated), text -> {}))
                    .hasMessageContaining(isEmulated ? "did not answer within 0 s" : "the board sends nothing");
        }
        SessionLimits answer = new SessionLimits(Optional.empty(), soon);
        try (PipedOutputStream quiet = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(quiet)) {
            quiet.write("kiln: ready\n".getBytes(StandardCharsets.US_ASCII));
            ModelSession session = new ConsoleProtocol(LATE, answer).connect(new Line(in, isEmulated), text -> {});
            assertThatThrownBy(session::models).hasMessageContaining("did not answer within 0 s");
        }
    }

    private record Line(InputStream input, boolean ownsProgram) implements Transport {
        @Override
        public OutputStream output() {
            return OutputStream.nullOutputStream();
        }

        @Override
        public KilnException explained(KilnException failure) {
            return failure;
        }

        @Override
        public void close() {}
    }

    @Test
    void anImageThatRebootsInALoopIsNamedAsSuch() throws Exception {
        String start = "kiln: ready, m\r\n";
        FirmwareSession looping = FirmwareSession.open(
                image(start, start, start, start), OutputStream.nullOutputStream(), LATE, LATE, text -> {});
        assertThatThrownBy(() -> looping.run(0, MODEL, List.of(bytes(5, 6))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image starts again and again: 3 times in place of an answer")
                .hasMessageContaining("a watchdog that is not fed");
        try (PipedOutputStream board = new PipedOutputStream();
                PipedInputStream in = new PipedInputStream(board)) {
            board.write((start + start).getBytes(StandardCharsets.US_ASCII));
            FirmwareSession once = FirmwareSession.open(in, OutputStream.nullOutputStream(), SOON, SOON, text -> {});
            assertThatThrownBy(() -> once.run(0, MODEL, List.of(bytes(5, 6))))
                    .isInstanceOf(KilnException.class)
                    .hasMessageContaining("the image started again in place of an answer");
        }
    }

    /** Its port may have reset it after it was ready for the first time. */
    @Test
    void anImageThatStartsOnceMoreMayStillAnswer() {
        FirmwareSession session = FirmwareSession.open(
                image("kiln: ready\n", "kiln: ready\n", reply(0x82, 0, 7, 1, 2, 3)),
                OutputStream.nullOutputStream(),
                LATE,
                LATE,
                text -> {});
        assertThat(session.run(0, MODEL, List.of(bytes(5, 6)))).containsExactly(bytes(7), bytes(1, 2, 3));
    }

    @Test
    void outputsAreCutApartAndTextBetweenFramesIsShown() {
        StringBuilder shown = new StringBuilder();
        FirmwareSession session = FirmwareSession.open(
                image("kiln: ready, m\r\n", "warming up\n", reply(0x82, 0, 7, 1, 2, 3)),
                OutputStream.nullOutputStream(),
                LATE,
                LATE,
                shown::append);
        assertThat(session.run(0, MODEL, List.of(bytes(5, 6)))).containsExactly(bytes(7), bytes(1, 2, 3));
        assertThat(shown.toString()).isEqualTo("kiln: ready, m\r\nwarming up\n");
    }

    @Test
    void aRequestThatWasDamagedOnItsWayIsSentAgain() {
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        FirmwareSession session = FirmwareSession.open(
                image("kiln: ready\n", reply(0x80, 5), reply(0x83, 0)), sent, SOON, SOON, text -> {});
        session.exit();
        byte[] once = Frames.encode(bytes(3));
        assertThat(sent.toByteArray()).hasSize(2 * once.length).startsWith(once).endsWith(once);
    }

    @Test
    void anImageThatEndsInTheMiddleOfAnAnswerSaysSo() {
        byte[] answer = reply(0x82, 0, 7, 1, 2, 3);
        byte[] half = Arrays.copyOf(answer, 9);
        FirmwareSession session = FirmwareSession.open(
                image("kiln: ready\n", half, new byte[] {(byte) 0xff}, "\r\nkiln: exception 3\r\n", end(70)),
                OutputStream.nullOutputStream(),
                LATE,
                LATE,
                text -> {});
        assertThatThrownBy(() -> session.run(0, MODEL, List.of(bytes(5, 6))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("the image ended with code 70")
                .hasMessageContaining("kiln: exception 3");
    }

    @Test
    void anImageThatEndsAfterItsLastAnswerIsDone() {
        FirmwareSession good = FirmwareSession.open(
                image("kiln: ready\n", reply(0x83, 0), end(0)),
                OutputStream.nullOutputStream(),
                LATE,
                LATE,
                text -> {});
        good.exit();
        FirmwareSession bad = FirmwareSession.open(
                image("kiln: ready\n", reply(0x83, 0), end(9)),
                OutputStream.nullOutputStream(),
                LATE,
                LATE,
                text -> {});
        assertThatThrownBy(bad::exit).isInstanceOf(KilnException.class).hasMessageContaining("code 9");
    }

    /** Only a whole packet with the right check sum is an end. */
    @Test
    void textIsNoEnd() {
        byte[] damaged = end(0);
        damaged[damaged.length - 1] ^= 1;
        InputStream all = image("kiln: exit 0\n", "exit", Arrays.copyOf(end(0), 15), damaged, " exit\n", end(70));
        assertThat(ImageConsole.follow(all, LATE, text -> {}, text -> false)).matches(end -> Ends.code(end) == 70);
    }

    @Test
    void aFloodOfLinesIsAnError() {
        InputStream flood = image("\n".repeat(200_000));
        assertThatThrownBy(() -> ImageConsole.follow(flood, LATE, text -> {}, text -> false))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("100000 lines");
    }

    private static byte[] end(int code) {
        return reply('e', 'x', 'i', 't', code, code >> 8, code >> 16, code >> 24);
    }

    @Test
    void inputsOfTheWrongSizeAreNotSent() {
        FirmwareSession session =
                FirmwareSession.open(image("kiln: ready\n"), OutputStream.nullOutputStream(), SOON, SOON, text -> {});
        assertThatThrownBy(() -> session.run(0, MODEL, List.of(bytes(1, 2, 3))))
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("[3] bytes")
                .hasMessageContaining("[2] bytes");
    }

    @Test
    void whateverAnImageAnswersIsAnAnswerOrAClearMessage() {
        Random random = new Random(20260101);
        for (int round = 0; round < 300; round++) {
            byte[] payload = new byte[random.nextInt(24)];
            random.nextBytes(payload);
            if (payload.length > 2 && random.nextBoolean()) {
                payload[0] = (byte) 0x81;
                payload[1] = 0;
                payload[2] = 1;
            }
            Object hostile = random.nextBoolean() ? Frames.encode(Bytes.copyOf(payload)) : payload;
            InputStream said = image("kiln: ready\n", hostile);
            try (FirmwareSession session =
                    FirmwareSession.open(said, OutputStream.nullOutputStream(), LATE, LATE, text -> {})) {
                assertThat(session.models()).hasSizeLessThan(256);
            } catch (KilnException e) {
                assertThat(e.problems()).isNotEmpty();
            }
        }
    }

    private static InputStream image(Object... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (Object part : parts) {
            out.writeBytes(part instanceof byte[] raw ? raw : part.toString().getBytes(StandardCharsets.US_ASCII));
        }
        return new ByteArrayInputStream(out.toByteArray());
    }

    private static byte[] reply(int... values) {
        return Frames.encode(bytes(values));
    }

    private static Bytes bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return Bytes.wrap(bytes);
    }
}
