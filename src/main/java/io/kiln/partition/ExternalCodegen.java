// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.Artifact;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Problem;
import io.kiln.ir.type.TensorType;
import io.kiln.target.CompositeTarget;
import io.kiln.target.Target;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A code generator beside Kiln's own. It is found as a service ({@link java.util.ServiceLoader}), for example in a dependency of the plugin,
 * and takes part in a build whose composite target names it: {@code "my-npu -lanes=8, c -mcpu=cortex-m55"}. It must not keep state between
 * calls.
 */
public interface ExternalCodegen {
    /** The code generator's name in targets: a letter, then letters, digits, {@code _} and {@code -}. */
    String name();

    /** The patterns of operators that it takes; earlier patterns take first. */
    List<CompositePattern> patterns(CompositeTarget.External external, Target host);

    /** The errors in its part of the target; empty if there are none. */
    default Optional<Problem> check(CompositeTarget.External external, Target host) {
        return Optional.empty();
    }

    /**
     * Whether its functions run on a device of its own, whose driver's hooks are called around them, see {@link
     * io.kiln.artifact.DeviceHooks}. Its functions then get the device's context as their last argument.
     */
    default boolean hasDevice() {
        return false;
    }

    /**
     * Whether the core itself computes its functions, which then reach the memories that the core reaches. Otherwise their tensors, tables and
     * context lie in memories of the board that name this code generator among their {@code targets}, or no targets at all. The core need not
     * reach them: a function of the core's that starts a device only passes their addresses on.
     */
    default boolean runsOnCore() {
        return false;
    }

    /** The arguments that a call of a function passes. */
    ExternalCall call(ExternalFunction function, CompositeTarget.External external, Target host);

    /** C files, and other artifacts, with the definition of each function. */
    List<Artifact> generate(ExternalUnit unit);

    /**
     * All functions of a module for one code generator.
     *
     * @param model name of the model file, for the head of files
     * @param file name of its file without ending, such as {@code default_lib2}
     * @param functions the functions, in the order of their calls
     * @param external the code generator's part of the target
     * @param host the target of everything else
     */
    public record ExternalUnit(
            String model,
            String file,
            List<ExternalFunction> functions,
            CompositeTarget.External external,
            Target host) {
        public ExternalUnit {
            functions = List.copyOf(functions);
        }
    }

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
}
