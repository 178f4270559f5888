// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import io.kiln.frontend.InputShapes;
import io.kiln.ir.Function;
import io.kiln.ir.op.call.EthosU;
import io.kiln.ir.op.call.EthosU.EthosUTensor;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.npu.CommandWords;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.TensorType;

/** The operator of Vela's files, as it becomes an operator of the IR, and what is wrong with files that are refused. */
class EthosUImportTest {
    private static final int MUTATIONS = Integer.getInteger("kiln.mutations", 3000);
    private static final Bytes OPTIONS = Bytes.wrap(new byte[] {1, 4, 1});

    @Test
    void inputsAndOutputsHaveVelasPlaces() {
        Function function = VelaModel.mixed(VelaModel.U55_128).read();
        assertThat(function.bindings())
                .extracting(binding -> binding.op().name())
                .containsExactly(
                        "tfl.ethos_u",
                        "tfl.ethos_u_tensor",
                        "tfl.ethos_u_tensor",
                        "nn.max_pool2d",
                        "tfl.ethos_u",
                        "tfl.ethos_u_tensor");
        assertThat(function.bindings().get(0).op())
                .isEqualTo(new EthosU(512, 0, List.of(0), List.of(128, 256), List.of(128, 128)));
        assertThat(((EthosUTensor) function.bindings().get(2).op()).offset()).isEqualTo(256);
        assertThat(((EthosU) function.bindings().get(4).op()).inputs()).containsExactly(384);
    }

    /**
     * Vela's plan has places for all tensors. Those at the border of a part are where its commands find them. Those that only the core touches are
     * not needed: the core's tensors lie outside of the scratch, and are copied there when a part begins, so that none can overlap what a part
     * writes; Kiln plans them by its own rules. Places over others, outside of the arena, or none change nothing.
     */
    @Test
    void placesCountWhereTheNpuTouches() {
        String text = text(384, 0);
        for (int inner : new int[] {128, 500, 1 << 20, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            assertThat(text(384, inner)).isEqualTo(text);
        }
        assertThat(text(416, 0)).isNotEqualTo(text).contains("inputs=[416]");
        assertThatThrownBy(() -> text(-1, 0)).hasMessageContaining("has no place for `pooled` int8");
    }

    private static String text(int border, int inner) {
        return RelayPrinter.astext(VelaModel.mixed(VelaModel.U55_128, border, OptionalInt.of(inner))
                .read());
    }

    @Test
    void whatIsWrongIsSaid() {
        assertThatThrownBy(() -> part(clamp(0), OPTIONS, VelaModel.plan(-1, -1, 0, 0, 0, -1))
                        .read())
                .isInstanceOf(KilnException.class)
                .hasMessageContaining("operator #0 CUSTOM ethos-u")
                .hasMessageContaining("the file's memory plan has no place for `y` int8");
        assertThatThrownBy(
                        () -> part(clamp(0), OPTIONS, Bytes.wrap(new byte[0])).read())
                .hasMessageContaining("the file has no place for its scratch");
        assertThatThrownBy(() ->
                        part(clamp(0), Bytes.wrap(new byte[] {2, 4, 1}), plan()).read())
                .hasMessageContaining("its options are not those of Vela's operator");
        assertThatThrownBy(() -> part(clamp(450), OPTIONS, plan()).read())
                .hasMessageContaining("operation #0 at 0x118: POOL MAX 1x8x8")
                .hasMessageContaining("leaves region 1 with its OFM");
        Bytes file = Bytes.wrap(part(clamp(0), OPTIONS, plan()).build());
        assertThatThrownBy(() -> TfliteFrontend.read(file, "m.tflite", "m", InputShapes.parse("x:2,64")))
                .hasMessageContaining("other shapes of inputs are given");
    }

    /** Files of strangers: changed bytes give a model or a message, never another exception. */
    @Test
    void changedFilesGiveAModelOrAMessage() {
        byte[] file = VelaModel.mixed(VelaModel.U55_128).build();
        Random random = new Random(39);
        int refused = 0;
        for (int i = 0; i < MUTATIONS; i++) {
            byte[] changed = file.clone();
            for (int j = random.nextInt(4); j >= 0; j--) {
                changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
            }
            try {
                TfliteFrontend.read(Bytes.wrap(changed), "m.tflite", "m");
            } catch (KilnException e) {
                refused++;
            }
        }
        assertThat(refused).isBetween(MUTATIONS / 10, MUTATIONS - MUTATIONS / 10);
    }

    private static Bytes clamp(int to) {
        return new CommandWords().clamp(0, to, 1, 8, 8, 0, 127).payload(VelaModel.U55_128);
    }

    private static Bytes plan() {
        return VelaModel.plan(-1, -1, 0, 0, 0, 64);
    }

    /** A part of one operation for 64 elements. */
    private static TfliteModelBuilder part(Bytes stream, Bytes options, Bytes plan) {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int payload = builder.tensor(
                TensorSpec.of("stream", TensorType.UINT8, stream.size()).withData(stream.toArray()));
        int flash = builder.tensor(TensorSpec.of("flash", TensorType.UINT8, 16).withData(new byte[16]));
        int scratch = builder.tensor(TensorSpec.of("scratch", TensorType.UINT8, 512));
        int fast = builder.tensor(TensorSpec.of("scratch_fast", TensorType.UINT8, 512));
        int x = builder.tensor(TensorSpec.int8("x", 1f, 0, 1, 64));
        int y = builder.tensor(TensorSpec.int8("y", 1f, 0, 1, 64));
        return builder.custom("ethos-u", options, new int[] {payload, flash, scratch, fast, x}, y)
                .inputs(x)
                .outputs(y)
                .metadata("OfflineMemoryAllocation", plan);
    }
}
