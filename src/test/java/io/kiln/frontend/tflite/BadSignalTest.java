// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static io.kiln.frontend.tflite.SignalModel.output;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.Bytes;
import io.kiln.base.KilnException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tensorflow.lite.schema.TensorType;

/** What is wrong with operators of signal processing, and what is told of it. */
class BadSignalTest {
    private static final TensorSpec VALID = output(TensorType.BOOL);

    private static void assertRefused(
            String code, TensorSpec data, Map<String, Object> options, TensorSpec[] outputs, String... texts) {
        SignalModel model = new SignalModel(
                data.type(), data.shape().stream().mapToInt(i -> i).toArray());
        KilnException e = catchThrowableOfType(KilnException.class, () -> model.with(code, options, outputs));
        assertThat(e)
                .as(code)
                .hasMessageContaining("operator #0 CUSTOM " + code)
                .hasMessageContainingAll(texts);
        assertThat(e.problems().size()).isLessThan(4);
    }

    private static TensorSpec samples(int... shape) {
        return TensorSpec.of("x", TensorType.INT16, shape);
    }

    private static TensorSpec[] outputs(TensorSpec... outputs) {
        return outputs;
    }

    @Test
    void optionsMustBeThere() {
        assertRefused(
                "SignalFramer",
                samples(4),
                Map.of("frame_size", 4, "prefill", 2),
                outputs(output(TensorType.INT16, 1, 4), VALID),
                "its option frame_step is missing",
                "its option prefill is 2");
        assertRefused(
                "SignalRfft",
                samples(16),
                Map.of("fft_length", 12),
                outputs(output(TensorType.INT16, 14)),
                "a power of two from 4 to 32768, not 12");
        assertRefused(
                "SignalEnergy",
                samples(16),
                Map.of("start_index", 5, "end_index", 4),
                outputs(output(TensorType.UINT32, 8)),
                "a range of frequencies from 5 to 4 is not valid");
    }

    @Test
    void tensorsMustFit() {
        assertRefused(
                "SignalRfft",
                samples(65),
                Map.of("fft_length", 64),
                outputs(output(TensorType.INT16, 66)),
                "vectors of Tensor[(65,), int16] have more than 64 samples");
        assertRefused(
                "SignalIrfft",
                samples(64),
                Map.of("fft_length", 64),
                outputs(output(TensorType.INT16, 64)),
                "must have 66 elements in a vector");
        assertRefused(
                "SignalRfft",
                TensorSpec.of("x", TensorType.INT8, 64),
                Map.of("fft_length", 64),
                outputs(output(TensorType.INT8, 66)),
                "element type int8 of `x` is not supported here",
                "int16, int32, float32");
        assertRefused(
                "SignalEnergy",
                samples(16),
                Map.of("start_index", 0, "end_index", 9),
                outputs(output(TensorType.UINT32, 8)),
                "the range ends at 9, beyond the last of 8 frequencies");
    }

    @Test
    void optionsMustFit() {
        assertRefused(
                "SignalFftAutoScale",
                samples(4),
                Map.of(),
                outputs(output(TensorType.INT16, 4)),
                "it has 1 inputs and 1 outputs");
        assertRefused(
                "SignalStacker",
                samples(4),
                Map.of("num_channels", 3, "stacker_left_context", 0, "stacker_right_context", 0, "stacker_step", 1),
                outputs(output(TensorType.INT16, 4), VALID),
                "its option num_channels is 3");
        assertRefused(
                "SignalOverlapAdd",
                samples(2, 3),
                Map.of("frame_step", 4),
                outputs(output(TensorType.INT16, 8)),
                "shorter than the step from one to the next, 4");
    }

    /** A few bytes must not ask for memory without end. */
    @Test
    void whatIsRememberedIsLimited() {
        assertRefused(
                "SignalDelay",
                samples(1000, 4),
                Map.of("delay_length", Integer.MAX_VALUE),
                outputs(output(TensorType.INT16, 1000, 4)),
                "a vector cannot have 2147483647000 elements");
        assertRefused(
                "SignalFramer",
                samples(1),
                Map.of("frame_size", Integer.MAX_VALUE, "frame_step", 1, "prefill", true),
                outputs(output(TensorType.INT16, 1, 4), VALID),
                "a frame of 2147483647 samples cannot follow another by 1");
        assertRefused(
                "SignalStacker",
                samples(1),
                Map.of(
                        "num_channels",
                        1,
                        "stacker_left_context",
                        Integer.MAX_VALUE,
                        "stacker_right_context",
                        Integer.MAX_VALUE,
                        "stacker_step",
                        1),
                outputs(output(TensorType.INT16, 1), VALID),
                "2147483647 frames before and 2147483647 after are too many");
        SignalModel model = new SignalModel(TensorType.INT16, 4);
        KilnException e = catchThrowableOfType(
                KilnException.class,
                () -> model.with("SignalDelay", Map.of("delay_length", 1_000_000_000), output(TensorType.INT16, 4)));
        assertThat(e).hasMessageContaining("the model is many times larger than the file");
    }

    @Test
    void transformsOfConstantsAreLimited() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(samples(4));
        int c = m.tensor(samples(2000, 4).withData(LittleEndian.ofShorts(new int[8000])));
        int y = m.tensor(output(TensorType.INT16, 2000, 32770));
        m.custom("SignalRfft", FlexOptions.of(Map.of("fft_length", 32768)), new int[] {c}, y)
                .inputs(x)
                .outputs(y);
        KilnException e = catchThrowableOfType(KilnException.class, m::read);
        assertThat(e).hasMessageContaining("computing the model's constants takes more than 805,306,368 steps");
    }

    @Test
    void windowsAndOptionsMustBeReadable() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(samples(4));
        int w = m.tensor(TensorSpec.of("w", TensorType.INT16, 4));
        int y = m.tensor(output(TensorType.INT16, 4));
        m.custom("SignalWindow", Bytes.wrap(new byte[] {1, 2, 3}), new int[] {x, w}, y)
                .inputs(x, w)
                .outputs(y);
        KilnException e = catchThrowableOfType(KilnException.class, m::read);
        assertThat(e).hasMessageContaining("its custom options are corrupt at byte 2");
        TfliteModelBuilder again = new TfliteModelBuilder();
        again.tensor(samples(4));
        again.tensor(TensorSpec.of("w", TensorType.INT16, 4));
        again.tensor(output(TensorType.INT16, 4));
        again.custom("SignalWindow", FlexOptions.of(Map.of("shift", 32)), new int[] {x, w}, y)
                .inputs(x, w)
                .outputs(y);
        e = catchThrowableOfType(KilnException.class, again::read);
        assertThat(e).hasMessageContainingAll("the window `w` is not constant", "its option shift is 32");
    }
}
