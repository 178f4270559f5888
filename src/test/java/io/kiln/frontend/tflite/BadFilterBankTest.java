// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kiln.base.KilnException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.lite.schema.TensorType;

/** What is wrong with operators on filter banks, and what is told of it. */
class BadFilterBankTest {
    private static final Map<String, Object> SUBTRACTION = Map.of(
            "num_channels", 4,
            "smoothing", 655,
            "one_minus_smoothing", 15_729,
            "alternate_smoothing", 655,
            "alternate_one_minus_smoothing", 15_729,
            "smoothing_bits", 10,
            "min_signal_remaining", 819,
            "clamping", false,
            "spectral_subtraction_bits", 14);

    private static void assertRefused(TfliteModelBuilder model, String... texts) {
        KilnException e = catchThrowableOfType(KilnException.class, model::read);
        assertThat(e).hasMessageContainingAll(texts).hasMessageContaining("operator #0");
        assertThat(e.problems()).hasSizeLessThanOrEqualTo(Math.max(3, texts.length));
    }

    private static Map<String, Object> with(Map<String, Object> options, String name, Object value) {
        Map<String, Object> all = new HashMap<>(options);
        all.put(name, value);
        return all;
    }

    /** Energies of 5 in 2 channels; every table may be replaced. */
    private static TfliteModelBuilder sums(int channels, int[] weights, int[] unweights, int[]... layout) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, 5));
        int[] in = {
            x,
            shorts(m, "weights", weights),
            shorts(m, "unweights", unweights),
            shorts(m, "starts", layout[0]),
            shorts(m, "weight_starts", layout[1]),
            shorts(m, "widths", layout[2])
        };
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT64, 2));
        m.custom("SignalFilterBank", FlexOptions.of(Map.of("num_channels", channels)), in, y);
        return m.inputs(x).outputs(y);
    }

    private static int shorts(TfliteModelBuilder m, String name, int... values) {
        return m.tensor(TensorSpec.of(name, TensorType.INT16, values.length).withData(LittleEndian.ofShorts(values)));
    }

    private static int[] of(int... values) {
        return values;
    }

    @Test
    void channelsWithinTheDataAreRead() {
        assertThat(sums(2, of(1, 2, 3), of(1, 2, 3), of(0, 1, 4), of(0, 1, 2), of(1, 1, 1))
                        .read()
                        .bindings())
                .hasSize(1);
    }

    @Test
    void channelsOutsideOfTheDataAreToldAllAtOnce() {
        assertRefused(
                sums(2, of(1, 2, 3), of(1, 2, 3), of(-1, 32_767, 5), of(0, -7, 3), of(2, 32_767, -1)),
                "entry 2 of the channels (frequency start 5, weight start 3, width -1) has a negative width",
                "entry 0 of the channels (frequency start -1, weight start 0, width 2) takes energies outside of the 5"
                        + " of the data, as do 1 more entries",
                "entry 1 of the channels (frequency start 32767, weight start -7, width 32767) takes weights outside of"
                        + " the 3 there are");
    }

    @Test
    void anEmptyChannelMayStandAnywhere() {
        assertThat(sums(2, of(1), of(1), of(-9, 0, 32_767), of(99, 0, -99), of(0, 1, 0))
                        .read()
                        .bindings())
                .hasSize(1);
    }

    @Test
    void tablesMustFitTheChannels() {
        assertRefused(
                sums(3, of(1, 2, 3), of(1, 2, 3), of(0, 1, 4), of(0, 1, 2), of(1, 1, 1)),
                "`starts` has 3 elements for 3 channels",
                "`weight_starts` has 3 elements for 3 channels",
                "`widths` has 3 elements for 3 channels");
        assertRefused(
                sums(2, of(1, 2, 3), of(1, 2), of(0, 1, 4), of(0, 1, 1), of(1, 1, 1)),
                "3 weights and 2 unweights differ in number");
    }

    @Test
    void channelsOfConstantsAreNotComputedWhileTheModelIsRead() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, 1).withData(LittleEndian.ofInts(7)));
        int table = shorts(m, "table", 0, 0);
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT64, 1));
        int[] in = {x, table, table, table, table, table};
        m.custom("SignalFilterBank", FlexOptions.of(Map.of("num_channels", 1)), in, y);
        int other = m.tensor(TensorSpec.of("other", TensorType.UINT32, 1));
        assertRefused(m.inputs(other).outputs(y), "`x` is constant");
    }

    @ParameterizedTest
    @CsvSource({"0", "-1", "2147483647", "-2147483648"})
    void aNumberOfChannelsIsPositive(int channels) {
        assertRefused(
                sums(channels, of(1), of(1), of(0, 1), of(0, 0), of(1, 1)),
                "its option num_channels is " + channels,
                "a whole number from 1 to 2147483646");
    }

    @Test
    void typesAreTheKernels() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.INT32, 2, 2));
        int y = m.tensor(TensorSpec.of("y", TensorType.INT32, 2, 2));
        int bits = m.tensor(TensorSpec.of("bits", TensorType.INT16));
        m.custom("SignalFilterBankSquareRoot", new int[] {x, bits, bits}, y);
        assertRefused(
                m.inputs(x, bits).outputs(y),
                "it has 3 inputs",
                "element type int32 of `x` is not supported here",
                "`x` is (2, 2)",
                "element type int16 of `bits`",
                "element type int32 of `y`");
    }

    private static TfliteModelBuilder subtraction(Map<String, Object> options, int channels) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, channels));
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, channels));
        int noise = m.tensor(TensorSpec.of("noise", TensorType.UINT32, channels));
        m.custom("SignalFilterBankSpectralSubtraction", FlexOptions.of(options), new int[] {x}, y, noise);
        return m.inputs(x).outputs(y, noise);
    }

    @ParameterizedTest
    @CsvSource({
        "smoothing,-1",
        "one_minus_smoothing,-1",
        "alternate_smoothing,-2147483648",
        "alternate_one_minus_smoothing,-1",
        "min_signal_remaining,-1",
        "smoothing_bits,32",
        "smoothing_bits,-1",
        "spectral_subtraction_bits,64",
        "spectral_subtraction_bits,-1",
        "clamping,2",
        "num_channels,5"
    })
    void optionsOfASubtractionAreThoseTheArithmeticHasWordsFor(String name, int value) {
        assertThat(subtraction(SUBTRACTION, 4).read().variables()).hasSize(1);
        assertRefused(subtraction(with(SUBTRACTION, name, value), 4), "its option " + name + " is " + value);
    }

    @Test
    void allOptionsThatAreMissingAreTold() {
        assertRefused(
                subtraction(Map.of(), 1),
                SUBTRACTION.keySet().stream()
                        .map(name -> "its option " + name + " is missing")
                        .toArray(String[]::new));
    }

    @Test
    void aSubtractionHasTwoOutputs() {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, 4));
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, 4));
        m.custom("SignalFilterBankSpectralSubtraction", FlexOptions.of(SUBTRACTION), new int[] {x}, y);
        assertRefused(m.inputs(x).outputs(y), "it has 1 outputs");
    }

    private static TfliteModelBuilder gainControl(Object shift, int noises, TensorSpec gains) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, 4));
        int noise = m.tensor(TensorSpec.of("noise", TensorType.UINT32, noises));
        int y = m.tensor(TensorSpec.of("y", TensorType.UINT32, 4));
        int table = m.tensor(gains);
        m.custom("SignalPCAN", FlexOptions.of(Map.of("snr_shift", shift)), new int[] {x, noise, table}, y);
        return (gains.isConstant() ? m.inputs(x, noise) : m.inputs(x, noise, table)).outputs(y);
    }

    @Test
    void aGainControlReadsNothingBehindItsTables() {
        TensorSpec gains = TensorSpec.of("gains", TensorType.INT16, 125).withData(new byte[250]);
        TensorSpec few = TensorSpec.of("gains", TensorType.INT16, 124).withData(new byte[248]);
        assertThat(gainControl(6, 4, gains).read().bindings()).hasSize(1);
        assertRefused(gainControl(6, 4, few), "the table of gains has 124 elements, not 125");
        assertRefused(
                gainControl(6, 3, gains),
                "the noise Tensor[(3,), uint32] is not of the data's type Tensor[(4,), uint32]");
        assertRefused(
                gainControl(64, 4, TensorSpec.of("gains", TensorType.INT16, 125)),
                "its option snr_shift is 64",
                "the table of gains `gains` is not constant");
        assertRefused(gainControl("much", 4, gains), "its option snr_shift is much");
    }

    @ParameterizedTest
    @CsvSource({"output_scale,0", "output_scale,-5", "input_correction_bits,-1", "input_correction_bits,32"})
    void optionsOfALogarithmAreThoseTheArithmeticHasWordsFor(String name, int value) {
        TfliteModelBuilder m = new TfliteModelBuilder();
        int x = m.tensor(TensorSpec.of("x", TensorType.UINT32, 4));
        int y = m.tensor(TensorSpec.of("y", TensorType.INT16, 4));
        Map<String, Object> options = Map.of("output_scale", 1600, "input_correction_bits", 3);
        m.custom("SignalFilterBankLog", FlexOptions.of(with(options, name, value)), new int[] {x}, y);
        assertRefused(m.inputs(x).outputs(y), "its option " + name + " is " + value);
    }
}
