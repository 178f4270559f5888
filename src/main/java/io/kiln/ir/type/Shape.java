// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.type;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Dimensions of a tensor, outermost first; the empty list is a scalar. Only constants have a dimension of 0. */
public record Shape(List<Integer> dims) {
    public Shape {
        dims = List.copyOf(dims);
        for (int dim : dims) {
            if (dim < 0) {
                throw new IllegalArgumentException("dimensions must not be negative: " + dims);
            }
        }
    }

    public static Shape of(int... dims) {
        return new Shape(Arrays.stream(dims).boxed().toList());
    }

    public static Shape scalar() {
        return new Shape(List.of());
    }

    public int rank() {
        return dims.size();
    }

    /** The dimension at an index; negative indices count from the end. */
    public int dim(int index) {
        return dims.get(index < 0 ? dims.size() + index : index);
    }

    /** The same with another size of the dimension at an index; negative indices count from the end. */
    public Shape with(int index, int size) {
        return changed(list -> list.set(index < 0 ? rank() + index : index, size));
    }

    /** The same with a dimension of 1 before the one at an index, or behind all. */
    public Shape inserted(int index) {
        return changed(list -> list.add(index, 1));
    }

    /** The same without the dimension at an index. */
    public Shape without(int index) {
        return changed(list -> list.remove(index));
    }

    private Shape changed(Consumer<List<Integer>> change) {
        List<Integer> changed = new ArrayList<>(dims);
        change.accept(changed);
        return new Shape(changed);
    }

    /** Number of elements; throws {@link ArithmeticException} beyond 64 bits. */
    public long elements() {
        if (dims.contains(0)) {
            return 0;
        }
        long elements = 1;
        for (int dim : dims) {
            elements = Math.multiplyExact(elements, dim);
        }
        return elements;
    }

    /** Relay's form, such as {@code (1, 49, 10, 1)}. */
    public String text() {
        return dims.stream().map(String::valueOf).collect(Collectors.joining(", ", "(", dims.size() == 1 ? ",)" : ")"));
    }
}
