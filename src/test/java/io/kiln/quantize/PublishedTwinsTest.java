// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.TfliteFrontend;
import io.kiln.frontend.tflite.write.TfliteMaker;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.op.Layer;
import io.kiln.quantize.QuantizeOptions.QuantizeMode;
import io.kiln.quantize.quality.Evaluation;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.GoldenModels;
import io.kiln.reference.Interpreter;
import io.kiln.reference.NeedsShared;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Published float models, quantized, against the int8 models that their projects published. The samples are made from
 * the golden inputs of the int8 model, as real numbers, and seeded noise. With {@code -Dkiln.quantize=all} there are 200.
 */
@NeedsShared("golden")
class PublishedTwinsTest {
    private static final boolean ALL = "all".equals(System.getProperty("kiln.quantize"));
    private static final float TOLERANCE = 1e-6f;

    private static Function read(String model) {
        return TfliteFrontend.read(GoldenModels.model(model), "default");
    }

    private static List<Sample> samples(String twin, int few) {
        Function integers = read(twin);
        Parameter input = integers.params().get(0);
        List<float[]> golden = new ArrayList<>();
        for (int k = 1; k <= 2; k++) {
            golden.add(real(input, GoldenModels.inputs(twin, integers, k).get(0)));
        }
        Random random = new Random(1);
        List<Sample> samples = new ArrayList<>();
        for (int k = 0; k < (ALL ? 200 : few); k++) {
            samples.add(new Sample("sample " + k, List.of(mixed(golden, input, random))));
        }
        return samples;
    }

    private static float[] real(Parameter input, Bytes bytes) {
        float[] real = new float[bytes.size()];
        for (int i = 0; i < real.length; i++) {
            real[i] = input.quantization().orElseThrow().scale()
                    * (bytes.get(i) - input.quantization().orElseThrow().zeroPoint());
        }
        return real;
    }

    /** One golden input, darker or lighter and in coarser or finer parts, with some of the other and noise. */
    private static Bytes mixed(List<float[]> golden, Parameter input, Random random) {
        float scale = input.quantization().orElseThrow().scale();
        float low = scale * (Byte.MIN_VALUE - input.quantization().orElseThrow().zeroPoint());
        float high = low + 255 * scale;
        float[] first = golden.get(random.nextInt(2));
        float[] second = golden.get(random.nextInt(2));
        int part = 1 << random.nextInt(9);
        float level = random.nextFloat();
        float noise = 0.05f * random.nextFloat();
        ByteBuffer buffer = ByteBuffer.allocate(Float.BYTES * first.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < first.length; i++) {
            float coarse = level * first[i / part] + (1 - level) * second[(i + part) % first.length];
            float noisy = coarse + noise * (high - low) * (float) random.nextGaussian();
            buffer.putFloat(Math.max(low, Math.min(high, noisy)));
        }
        return Bytes.wrap(buffer.array());
    }

    private static Quantized quantized(String model, List<Sample> samples) {
        return new Quantizer(new TfliteMaker("model.tflite"), Runs.Progress.NONE)
                .quantize(read(model), samples, QuantizeOptions.of(QuantizeMode.INT8));
    }

    private static List<Binding> layers(Function function) {
        return function.bindings().stream().filter(b -> b.op() instanceof Layer).toList();
    }

    private static void assertSameScales(Function ours, Function twins) {
        List<Binding> expected = layers(twins);
        List<Binding> actual = layers(ours);
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.size(); i++) {
            Constant scales = actual.get(i).constant(Layer.KERNEL_SCALE);
            Constant wanted = expected.get(i).constant(Layer.KERNEL_SCALE);
            assertThat(scales.elements()).isEqualTo(wanted.elements());
            for (int c = 0; c < scales.elements(); c++) {
                assertThat(scales.real(c)).isCloseTo(wanted.real(c), within(TOLERANCE * wanted.real(c)));
            }
            assertThat(actual.get(i).constant(1).data().size())
                    .isEqualTo(expected.get(i).constant(1).data().size());
        }
    }

    @Test
    void anAutoencoder() {
        List<Sample> samples = samples("ad01_int8", 200);
        Quantized quantized = quantized("ad01_fp32", samples);
        assertSameScales(quantized.function(), read("ad01_int8"));
        assertThat(CompiledWork.of(quantized.function())).isEqualTo(CompiledWork.of(read("ad01_int8")));
        double real = 0;
        double integer = 0;
        Function model = read("ad01_fp32");
        for (Sample sample : samples) {
            float[] input = floats(sample.inputs().get(0));
            real += error(input, floats(Interpreter.run(model, sample.inputs()).get(0)));
            Bytes answer = Interpreter.run(quantized.function(), Evaluation.inputs(quantized.function(), sample))
                    .get(0);
            var meaning = quantized.function().results().get(0).quantization().orElseThrow();
            float[] found = new float[answer.size()];
            for (int i = 0; i < found.length; i++) {
                found[i] = meaning.scale() * (answer.get(i) - meaning.zeroPoint());
            }
            integer += error(input, found);
        }
        assertThat(integer / real).isCloseTo(1, within(0.02));
        WrittenModelTest.assertSameAnswers(quantized, samples.subList(0, 20));
    }

    private static float[] floats(Bytes bytes) {
        float[] floats = new float[bytes.size() / Float.BYTES];
        bytes.buffer().asFloatBuffer().get(floats);
        return floats;
    }

    private static double error(float[] input, float[] output) {
        double sum = 0;
        for (int i = 0; i < input.length; i++) {
            sum += (double) (input[i] - output[i]) * (input[i] - output[i]);
        }
        return sum / input.length;
    }

    @Test
    void aResidualNetwork() {
        List<Sample> samples = samples("pretrainedResnet_quant", 24);
        Quantized quantized = quantized("pretrainedResnet", samples);
        assertSameScales(quantized.function(), read("pretrainedResnet_quant"));
        assertThat(CompiledWork.of(quantized.function())).isEqualTo(CompiledWork.of(read("pretrainedResnet_quant")));
        assertThat(quantized.quality().agreement()).isGreaterThanOrEqualTo(0.95);
        WrittenModelTest.assertSameAnswers(quantized, samples.subList(0, 4));
    }

    @Test
    void aDepthwiseNetwork() {
        List<Sample> samples = samples("vww_96_int8", 4);
        Quantized quantized = quantized("vww_96_float", samples);
        assertThat(quantized.quality().agreement()).isGreaterThanOrEqualTo(0.95);
        // Which weights round to nothing, and so which channels are removed, differs a little.
        CompiledWork ours = CompiledWork.of(quantized.function());
        CompiledWork twins = CompiledWork.of(read("vww_96_int8"));
        assertThat(ours.operators()).hasSameSizeAs(twins.operators());
        assertThat((double) ours.executedMacs() / twins.executedMacs()).isCloseTo(1, within(0.02));
        WrittenModelTest.assertSameAnswers(quantized, samples.subList(0, 2));
    }
}
