// SPDX-License-Identifier: Apache-2.0
package io.kiln.device.rpc.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.device.rpc.packet.DataType;
import io.kiln.device.rpc.packet.RpcException;
import io.kiln.device.rpc.packet.RpcValue;
import io.kiln.device.transport.FrameReader.FrameDecoder;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Whatever happens to the bytes either way, a host gets the right answer or one error in time; and the line can be used again. */
class DamagedStreamTest {
    private static final int STREAMS = Integer.getInteger("kiln.rpc.streams", 2000);
    private static final int RANGE = 900;
    private static final byte[] INPUT = {1, -1, 2, -3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    /** Of frames that are not what was sent, so many pass a check of 16 bits; no host can tell. */
    private static final double PASSES_CRC = 4.0 / 65536;

    @Test
    void damagedStreamsGiveTheRightAnswerOrAnError() {
        int answers = 0;
        int errors = 0;
        int undetectable = 0;
        for (int seed = 0; seed < STREAMS; seed++) {
            switch (outcome(seed)) {
                case RIGHT -> answers++;
                case ERROR -> errors++;
                case UNDETECTABLE -> undetectable++;
            }
        }
        assertThat(answers).isGreaterThan(STREAMS / 20);
        assertThat(errors).isGreaterThan(STREAMS / 20);
        assertThat((double) undetectable).isLessThanOrEqualTo(1 + STREAMS * PASSES_CRC);
    }

    private enum Outcome {
        RIGHT,
        ERROR,
        UNDETECTABLE
    }

    private static Outcome outcome(int seed) {
        Random random = new Random(seed);
        Tap fromHost = new Tap(random.nextBoolean() ? new Damage(random, RANGE) : bytes -> bytes);
        Tap toHost = new Tap(random.nextInt(3) > 0 ? new Damage(random, RANGE) : bytes -> bytes);
        ScriptedLine line = new ScriptedLine().fromHost(fromHost).toHost(toHost);
        Outcome outcome;
        try {
            boolean isRight = talk(line);
            boolean isForged = fromHost.forged() || toHost.forged();
            assertThat(isRight || isForged).as("stream %d", seed).isTrue();
            outcome = isRight ? Outcome.RIGHT : Outcome.UNDETECTABLE;
        } catch (RpcException e) {
            outcome = Outcome.ERROR;
        }
        assertThat(line.time()).as("stream %d", seed).isLessThanOrEqualTo(Duration.ofSeconds(11));
        line.fromHost(bytes -> bytes).toHost(bytes -> bytes);
        assertThat(talk(line)).as("after stream %d", seed).isTrue();
        return outcome;
    }

    /** A conversation with copies and calls; whether its answers are right. */
    private static boolean talk(ScriptedLine line) {
        try (RpcClient client = line.connect()) {
            RemoteModule library = client.systemLibrary();
            long sum = library.require("sum")
                    .call(new RpcValue.Int(40), new RpcValue.Int(2))
                    .integer();
            RemoteTensor tensor = client.allocate(DataType.of(DType.INT8), INPUT.length);
            tensor.upload(Bytes.copyOf(INPUT));
            library.require("double_it").call(tensor.value(), tensor.value());
            byte[] output = tensor.download().toArray();
            boolean isRight = sum == 42;
            for (int i = 0; i < INPUT.length; i++) {
                isRight &= output[i] == (byte) (2 * INPUT[i]);
            }
            return isRight;
        }
    }

    /** Applies damage, and knows whether a frame came out whole that did not go in. */
    private static final class Tap implements UnaryOperator<byte[]> {
        private final UnaryOperator<byte[]> damage;
        private final Set<Bytes> sent = new HashSet<>();
        private final FrameDecoder before = new FrameDecoder(4096);
        private final FrameDecoder after = new FrameDecoder(4096);
        private boolean isForged;

        Tap(UnaryOperator<byte[]> damage) {
            this.damage = damage;
            sent.add(Bytes.copyOf(new byte[] {0, 0, 2}));
            sent.add(Bytes.copyOf(new byte[] {0, 0, 3, 'l', 'o', 'g', '1'}));
        }

        @Override
        public byte[] apply(byte[] bytes) {
            for (byte each : bytes) {
                before.accept(each & 0xFF).ifPresent(sent::add);
            }
            byte[] damaged = damage.apply(bytes);
            for (byte each : damaged) {
                Optional<Bytes> frame = after.accept(each & 0xFF);
                isForged |= frame.filter(payload -> !sent.contains(payload)).isPresent();
            }
            return damaged;
        }

        boolean forged() {
            return isForged;
        }
    }
}
