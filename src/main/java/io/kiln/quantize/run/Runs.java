// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.run;

import io.kiln.ir.Function;
import io.kiln.quantize.sample.Sample;
import io.kiln.reference.Interpreter;
import io.kiln.reference.kernel.Tensor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/** Runs a function on samples: in parallel, or one after the other if it keeps a state, which begins with the first sample. */
public final class Runs {
    private Runs() {}

    /** Told after each sample; calls may come from any thread, but never two at a time. */
    public interface Progress {
        /** Tells nobody. */
        Progress NONE = (done, all) -> {};

        void done(int done, int all);
    }

    /** The values of a run, those of variables as the run left them. */
    public record Values(Map<Integer, Tensor> byId) {
        /** Whether a value is computed and float. */
        public boolean isFloat(int id) {
            return byId.containsKey(id) && byId.get(id).isFloat();
        }

        /** The elements of a float value; read-only. */
        public float[] floats(int id) {
            return byId.get(id).floats();
        }
    }

    /** Extracts what is needed from a sample's values, which are not kept. */
    public interface Use<T> {
        T of(Sample sample, Values values);
    }

    /**
     * Runs all samples.
     *
     * @param function a function whose inputs are those of the samples
     * @return what {@code use} gave, in the order of the samples
     */
    public static <T> List<T> each(Function function, List<Sample> samples, Progress progress, Use<T> use) {
        AtomicInteger done = new AtomicInteger();
        boolean isStateful = !function.variables().isEmpty();
        Interpreter.State kept = Interpreter.State.initial(function);
        IntStream all = IntStream.range(0, samples.size());
        return (isStateful ? all.sequential() : all.parallel())
                .mapToObj(k -> {
                    Sample sample = samples.get(k);
                    Map<Integer, Tensor> values = new HashMap<>();
                    Interpreter.observe(
                            function,
                            sample.inputs(),
                            isStateful ? kept : Interpreter.State.initial(function),
                            values::put);
                    function.variables().forEach(v -> values.put(v.id(), Tensor.read(v.type(), kept.value(v.id()))));
                    T result = use.of(sample, new Values(values));
                    synchronized (done) {
                        progress.done(done.incrementAndGet(), samples.size());
                    }
                    return result;
                })
                .toList();
    }
}
