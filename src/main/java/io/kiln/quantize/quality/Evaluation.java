// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.quality;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Function;
import io.kiln.ir.Parameter;
import io.kiln.ir.Quantization;
import io.kiln.ir.Result;
import io.kiln.quantize.plan.Format;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.plan.Plan.QuantizedNetwork;
import io.kiln.quantize.quality.Quality.Noise;
import io.kiln.quantize.run.Runs;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.reference.kernel.Tensor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs a float network and its quantized form on the same samples. */
public final class Evaluation {
    private Evaluation() {}

    /** One sample's answers. */
    private record Answer(Map<Integer, Noise> nodes, List<Noise> outputs, int real, int quantized) {}

    /** The quality over samples. */
    public static Quality of(QuantizedNetwork network, List<Sample> samples, Runs.Progress progress) {
        Interpreter.State kept = Interpreter.State.initial(network.function());
        boolean isStateful = !network.function().variables().isEmpty();
        List<Answer> answers = Runs.each(
                network.plan().function(),
                samples,
                progress,
                (sample, values) -> answer(
                        network, sample, isStateful ? kept : Interpreter.State.initial(network.function()), values));
        Map<Integer, Noise> nodes = new HashMap<>();
        List<Noise> outputs = new ArrayList<>();
        network.function().results().forEach(result -> outputs.add(Noise.NOTHING));
        int same = 0;
        int right = 0;
        int rightQuantized = 0;
        for (int k = 0; k < samples.size(); k++) {
            Answer answer = answers.get(k);
            answer.nodes.forEach((id, noise) -> nodes.merge(id, noise, Noise::plus));
            for (int i = 0; i < outputs.size(); i++) {
                outputs.set(i, outputs.get(i).plus(answer.outputs.get(i)));
            }
            int label = samples.get(k).label().orElse(-1);
            same += answer.real == answer.quantized ? 1 : 0;
            right += answer.real == label ? 1 : 0;
            rightQuantized += answer.quantized == label ? 1 : 0;
        }
        double all = samples.size();
        boolean isLabelled = samples.stream().allMatch(sample -> sample.label().isPresent());
        return new Quality(
                nodes,
                outputs,
                same / all,
                isLabelled ? Optional.of(new Quality.Accuracy(right / all, rightQuantized / all)) : Optional.empty());
    }

    private static Answer answer(QuantizedNetwork network, Sample sample, Interpreter.State state, Runs.Values real) {
        Function function = network.function();
        Map<Integer, Tensor> integers = new HashMap<>();
        Interpreter.observe(function, inputs(function, sample), state, integers::put);
        Map<Integer, Noise> nodes = new HashMap<>();
        for (PlannedNode node : network.plan().nodes()) {
            Optional<Integer> place =
                    Optional.ofNullable(network.values().get(node.node().output()));
            if (place.isPresent() && real.isFloat(node.node().output())) {
                float[] found = real(integers.get(place.get()), node.output());
                nodes.put(node.node().output(), noise(real.floats(node.node().output()), found));
            }
        }
        List<Noise> outputs = new ArrayList<>();
        List<Result> results = network.plan().function().results();
        for (int i = 0; i < results.size(); i++) {
            Tensor found = integers.get(function.results().get(i).id());
            outputs.add(noise(
                    numbers(real.byId().get(results.get(i).id())),
                    real(found, network.plan().border().outputs().get(i))));
        }
        return new Answer(
                nodes,
                outputs,
                largest(numbers(real.byId().get(results.get(0).id()))),
                largest(numbers(integers.get(function.results().get(0).id()))));
    }

    /** A sample's inputs as the network takes them: floats become the integers that QUANTIZE makes of them. */
    public static List<Bytes> inputs(Function function, Sample sample) {
        List<Bytes> inputs = new ArrayList<>();
        for (int i = 0; i < function.params().size(); i++) {
            Parameter parameter = function.params().get(i);
            Bytes given = sample.inputs().get(i);
            inputs.add(parameter
                    .quantization()
                    .filter(q -> parameter.type().dtype().isInteger())
                    .map(q -> quantized(given, parameter.type().dtype(), q))
                    .orElse(given));
        }
        return inputs;
    }

    private static Bytes quantized(Bytes floats, DType dtype, Quantization quantization) {
        ByteBuffer from = floats.buffer();
        return Bytes.ofIntegers(floats.size() / Float.BYTES, dtype.bytes(), i -> {
            float steps = from.getFloat(Float.BYTES * i) / quantization.scale();
            long bounded = FixedPoint.roundHalfAway(Math.max(-1e9f, Math.min(1e9f, steps)));
            return Math.max(dtype.min(), Math.min(dtype.max(), bounded + quantization.zeroPoint()));
        });
    }

    private static float[] real(Tensor tensor, Format format) {
        float[] numbers = numbers(tensor);
        format.quantization().ifPresent(q -> {
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = q.scale() * (numbers[i] - q.zeroPoint());
            }
        });
        return numbers;
    }

    private static float[] numbers(Tensor tensor) {
        if (tensor.isFloat()) {
            return tensor.floats().clone();
        }
        float[] numbers = new float[Math.toIntExact(tensor.shape().elements())];
        boolean isLong = tensor.type().dtype().isLong();
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = isLong ? tensor.longs()[i] : tensor.ints()[i];
        }
        return numbers;
    }

    private static Noise noise(float[] expected, float[] found) {
        double signal = 0;
        double noise = 0;
        for (int i = 0; i < expected.length; i++) {
            double difference = (double) expected[i] - found[i];
            signal += (double) expected[i] * expected[i];
            noise += difference * difference;
        }
        return new Noise(signal, noise);
    }

    private static int largest(float[] numbers) {
        int best = 0;
        for (int i = 1; i < numbers.length; i++) {
            best = numbers[i] > numbers[best] ? i : best;
        }
        return best;
    }
}
