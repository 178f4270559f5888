// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.base.DType;
import java.util.List;
import java.util.Optional;

/**
 * The functions that have the packed signature.
 *
 * @param functions each one; all others take pointers
 * @param checked whether they check their arguments
 */
public record PackedApi(List<PackedFunction> functions, boolean checked) {
    /** No packed functions: all take pointers. */
    public static final PackedApi NONE = new PackedApi(List.of(), false);

    public PackedApi {
        functions = List.copyOf(functions);
    }

    /** The function of this name, if it is packed. */
    public Optional<PackedFunction> find(String name) {
        return functions.stream()
                .filter(function -> function.name().equals(name))
                .findFirst();
    }

    /**
     * A function that programs call with {@code TVMValue}s: tensors first, then integers. The tensors are those of a function of the loop IR, in
     * the order of its buffers; the integers are its scalars.
     *
     * @param name C name
     * @param tensors what it expects of each tensor
     * @param integers names of its integers
     * @param most the largest value of an integer; the smallest one is 0
     */
    public record PackedFunction(String name, List<Tensor> tensors, List<String> integers, long most) {
        public PackedFunction {
            tensors = List.copyOf(tensors);
            integers = List.copyOf(integers);
        }

        /** A function that takes tensors only. */
        public PackedFunction(String name, List<Tensor> tensors) {
            this(name, tensors, List.of(), 0);
        }

        public int arguments() {
            return tensors.size() + integers.size();
        }

        /**
         * What a function expects of a tensor.
         *
         * @param name for messages
         * @param dtype element type
         * @param shape dimensions
         */
        public record Tensor(String name, DType dtype, List<Integer> shape) {
            public Tensor {
                shape = List.copyOf(shape);
            }
        }
    }
}
