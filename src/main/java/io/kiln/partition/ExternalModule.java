// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition;

import io.kiln.artifact.DeviceHooks;
import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The external functions of one partitioned function. */
public final class ExternalModule {
    private final Externals externals;
    private final Map<Integer, ExternalFunction> functions;

    ExternalModule(Externals externals, Map<Integer, ExternalFunction> functions) {
        this.externals = externals;
        this.functions = Map.copyOf(functions);
    }

    /**
     * The external functions of a partitioned function.
     *
     * @param prefix of its C names, such as {@code tvmgen_default}
     */
    public static ExternalModule of(Externals externals, Function function, String prefix) {
        return new ExternalModule(externals, ExternalFunction.all(function, prefix, externals::device));
    }

    /** Whether an operator is the call of an external function. */
    public boolean takes(FusedOperator op) {
        return functions.containsKey(op.output());
    }

    /** Key of the target that computes an operator that {@link #takes} is true for. */
    public String targetKey(FusedOperator op) {
        return externals.targetKey(functions.get(op.output()));
    }

    /** Lowers an operator that {@link #takes} is true for. */
    public LoweredOperator lower(FusedOperator op, Rows rows) {
        ExternalFunction function = functions.get(op.output());
        return ExternalLowering.lower(op, function, externals.call(function), rows)
                .executing(function.body().chain().stream()
                        .mapToLong(Binding::macs)
                        .sum());
    }

    /** The functions, in the order of their calls. */
    public List<ExternalFunction> functions() {
        return functions.values().stream()
                .sorted(Comparator.comparingInt(
                                (ExternalFunction f) -> f.symbol().length())
                        .thenComparing(ExternalFunction::symbol))
                .toList();
    }

    /** Lowers a composite to the call of its external function; its tables and its scratch are the operator's. */
    private static final class ExternalLowering {
        /** Suffix of the function that calls an external function between the hooks of its device. */
        private static final String ON_DEVICE = "_on_device";

        private final FusedOperator op;
        private final ExternalFunction function;
        private final ExternalCall call;
        private final Tables tables;
        private final OperatorBuffers buffers;
        private final List<Buffer> passed = new ArrayList<>();
        private final List<Pointer> pointers = new ArrayList<>();

        private ExternalLowering(FusedOperator op, ExternalFunction function, ExternalCall call) {
            this.op = op;
            this.function = function;
            this.call = call;
            this.tables = new Tables(op.name());
            this.buffers = new OperatorBuffers(op, tables);
        }

        static LoweredOperator lower(FusedOperator op, ExternalFunction function, ExternalCall call, Rows rows) {
            return new ExternalLowering(op, function, call).lower(rows);
        }

        private LoweredOperator lower(Rows rows) {
            IntStream.range(0, function.inputs().size()).forEach(i -> pass(buffers.argument(i), false));
            call.constants().forEach(table -> pass(tables.add(table.name(), table.dtype(), table.data()), false));
            pass(buffers.output(), true);
            if (call.contextBytes() > 0) {
                pass(buffers.scratch(DType.UINT8, call.contextBytes()), true);
            }
            function.device().ifPresent(device -> pass(buffers.device(device.context()), true));
            BlockBuilder body = new BlockBuilder().call(kernel(), passed, List.of());
            return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), call.schedule())
                    .because("taken by " + function.composite().compiler())
                    .aligned(call.alignment());
        }

        private void pass(Buffer buffer, boolean isWritten) {
            passed.add(buffer);
            pointers.add(new Pointer(buffer.dtype(), isWritten));
        }

        private Kernel kernel() {
            boolean bools = passed.stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
            String prototype = "/* " + function.composite().name() + ", compiled by "
                    + function.composite().compiler() + ". */\nint32_t " + function.symbol() + "("
                    + String.join(", ", call.parameters(function)) + ");\n";
            return new Kernel(
                    function.symbol()
                            + function.device().map(device -> ON_DEVICE).orElse(""),
                    pointers,
                    List.of(),
                    bools ? List.of("stdbool.h") : List.of(),
                    prototype + function.device().map(this::onDevice).orElse(""),
                    function.device().map(device -> List.of(hooks(device))).orElse(List.of()),
                    true);
        }

        /** The call between the hooks: the device is closed even if its function failed. */
        private String onDevice(DeviceHooks device) {
            List<String> parameters = call.parameters(function);
            String names = parameters.stream()
                    .map(parameter -> parameter.substring(parameter.lastIndexOf(' ') + 1))
                    .collect(Collectors.joining(", "));
            return "static int32_t " + function.symbol() + ON_DEVICE + "(" + String.join(", ", parameters) + ") {\n"
                    + "  if (" + device.open() + "(device_) != 0) {\n"
                    + "    return -1;\n"
                    + "  }\n"
                    + "  const int32_t status = " + function.symbol() + "(" + names + ");\n"
                    + "  return " + device.close() + "(device_) != 0 ? -1 : status;\n"
                    + "}\n";
        }

        /** The hooks' declarations, once for each file. */
        private static Intrinsic hooks(DeviceHooks device) {
            String text = "/* The driver of " + device.device() + ". */\n" + DeviceHooks.declaration(device.open())
                    + ";\n" + DeviceHooks.declaration(device.close()) + ";\n";
            return new Intrinsic(device.open(), List.of(), DType.INT32, "", text, List.of());
        }
    }
}
