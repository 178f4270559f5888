// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a call of an external function passes beside tensors: {@code int32_t f(const T* input…, const T* constant…, T* output, uint8_t*
 * context, void* device)}. The function returns 0, or anything else for an error, which ends the run. The context is left out if it needs
 * none, and the device if the code generator has none.
 *
 * @param constants its tables, in order
 * @param contextBytes bytes of memory that it uses while it runs, aligned to 8 bytes and not initialised
 * @param schedule what computes it, for the report
 * @param alignment least alignment in bytes of the context, and of the output if it lies in the workspace; a power of two up to 64
 */
public record ExternalCall(List<Table> constants, long contextBytes, String schedule, int alignment) {
    /** A call whose memory needs no alignment of its own. */
    public ExternalCall(List<Table> constants, long contextBytes, String schedule) {
        this(constants, contextBytes, schedule, 1);
    }

    public ExternalCall {
        constants = List.copyOf(constants);
        Objects.requireNonNull(schedule, "the schedule");
    }

    /** A call without tables and context. */
    public static ExternalCall plain(String schedule) {
        return new ExternalCall(List.of(), 0, schedule);
    }

    /** The parameters in C, in order: {@code input_} or {@code input_<n>}, the tables' names, {@code output_}, {@code context_}, {@code device_}. */
    public List<String> parameters(ExternalFunction function) {
        List<String> parameters = new ArrayList<>();
        List<TensorType> inputs = function.inputs();
        for (int i = 0; i < inputs.size(); i++) {
            parameters.add("const " + inputs.get(i).dtype().cName() + "* " + input(function, i));
        }
        constants.forEach(table -> parameters.add("const " + table.dtype().cName() + "* " + table.name() + "_"));
        parameters.add(function.output().dtype().cName() + "* output_");
        if (contextBytes > 0) {
            parameters.add("uint8_t* context_");
        }
        function.device().ifPresent(device -> parameters.add("void* device_"));
        return parameters;
    }

    /** Name of the parameter of an input. */
    public static String input(ExternalFunction function, int index) {
        return function.inputs().size() == 1 ? "input_" : "input_" + index;
    }

    /**
     * A table.
     *
     * @param name of the parameter, such as {@code filter}
     * @param dtype type of the elements
     * @param data the elements, little-endian
     */
    public record Table(String name, DType dtype, Bytes data) {
        public Table {
            Objects.requireNonNull(name, "the name of a table");
            Objects.requireNonNull(dtype, "the type of a table");
            Objects.requireNonNull(data, "the elements of a table");
        }
    }
}
