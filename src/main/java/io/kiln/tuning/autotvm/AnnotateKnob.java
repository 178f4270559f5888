// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.autotvm;

import io.kiln.tuning.record.RecordValue;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Text;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Annotations of axes: {@code define_annotate}. */
public final class AnnotateKnob {
    private static final String VECTOR = "vec";

    /** The innermost axes' bindings by the least number of axes, the larger first. */
    private static final Map<String, List<List<String>>> BINDINGS = Map.of(
            "bind_gpu",
            List.of(
                    words("blockIdx.z blockIdx.y blockIdx.x threadIdx.z threadIdx.y threadIdx.x"),
                    words("blockIdx.y blockIdx.x threadIdx.y threadIdx.x"),
                    words("blockIdx.x threadIdx.x")),
            "bind_gpu_virtual",
            List.of(
                    words(
                            "blockIdx.z blockIdx.y blockIdx.x vthread vthread vthread threadIdx.z threadIdx.y threadIdx.x"),
                    words("blockIdx.y blockIdx.x vthread vthread threadIdx.y threadIdx.x"),
                    words("blockIdx.x vthread threadIdx.x")));

    private AnnotateKnob() {}

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }

    /**
     * The annotations of a policy.
     *
     * @param policy {@code bind_gpu}, {@code bind_gpu_virtual}, or any of none, unroll, vec and try joined by {@code _}
     * @throws IllegalArgumentException for any other policy, or too few axes
     */
    public static KnobSpace of(String name, int axes, String policy) {
        List<RecordValue> values = new ArrayList<>();
        if (BINDINGS.containsKey(policy)) {
            List<String> inner = BINDINGS.get(policy).stream()
                    .filter(bindings -> bindings.size() <= axes)
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(policy + " of " + axes + " axes"));
            List<String> all = new ArrayList<>(Collections.nCopies(axes - inner.size(), "fuse"));
            all.addAll(inner);
            values.add(texts(all));
        } else {
            List<String> annotations = List.of(policy.replace("try", "none").split("_"));
            if (!List.of("none", "unroll", VECTOR).containsAll(annotations)) {
                throw new IllegalArgumentException("no policy of annotations: " + policy);
            }
            generate(annotations, axes, new ArrayList<>(), values);
        }
        return new KnobSpace(name, "an", values);
    }

    /** Where caches are filled: combinations of axes. */
    public static KnobSpace locateCache(String name, int axes, int anchors) {
        List<RecordValue> values = new ArrayList<>();
        combine(axes, anchors, 0, new ArrayList<>(), values);
        return new KnobSpace(name, "an", values);
    }

    private static void combine(int axes, int left, int from, List<Integer> chosen, List<RecordValue> values) {
        if (left == 0) {
            values.add(Items.of(List.copyOf(chosen)));
            return;
        }
        for (int axis = from; axis < axes; axis++) {
            chosen.add(axis);
            combine(axes, left - 1, axis + 1, chosen, values);
            chosen.remove(chosen.size() - 1);
        }
    }

    /** At most one axis is a vector. */
    private static void generate(List<String> annotations, int axes, List<String> chosen, List<RecordValue> values) {
        if (chosen.size() == axes) {
            if (Collections.frequency(chosen, VECTOR) <= 1) {
                values.add(texts(chosen));
            }
            return;
        }
        for (String annotation : annotations) {
            chosen.add(annotation);
            generate(annotations, axes, chosen, values);
            chosen.remove(chosen.size() - 1);
        }
    }

    private static Items texts(List<String> words) {
        return new Items(words.stream().<RecordValue>map(Text::new).toList());
    }
}
