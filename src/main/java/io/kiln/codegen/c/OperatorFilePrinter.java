// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.PackedApi;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CGenerator.RamHeader;
import io.kiln.codegen.c.PackedText.Helper;
import io.kiln.codegen.c.UsedIntrinsics.PortableKernels;
import io.kiln.tir.Buffer;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Prints functions of the loop IR, with their tables and the intrinsics they call, as one C file. */
final class OperatorFilePrinter {
    /** Before a function of a micro-kernel that callers do not contain; its name is on the same line. */
    private static final Pattern FUNCTION =
            Pattern.compile("(?m)\\bstatic (?!inline\\b)(?=[^\\n;{=]*?\\b(kiln_\\w+)\\()");

    private static final int WIDTH = 120;

    private OperatorFilePrinter() {}

    static String print(CodeUnit unit) {
        List<Buffer> statics = unit.statics();
        List<PrimFunc> functions = unit.functions();
        List<Intrinsic> intrinsics = UsedIntrinsics.of(functions);
        List<Kernel> kernels = UsedIntrinsics.kernels(functions, unit.origin().target());
        PackedApi packed = unit.packed();
        StringBuilder out = new StringBuilder(CFilePrinter.head(unit.origin())).append('\n');
        out.append(headers(unit, intrinsics, kernels).stream()
                .map(h -> "#include <" + h + ">\n")
                .collect(Collectors.joining()));
        unit.ram().header().ifPresent(header -> out.append("#include \"" + header + "\"\n"));
        if (unit.origin().portable()) {
            out.append(PortableKernels.directives());
        }
        intrinsics.stream()
                .filter(i -> !i.definition().isEmpty())
                .forEach(i -> out.append('\n').append(i.definition()));
        kernels.forEach(k -> out.append('\n').append(definition(k, unit.ram())));
        if (!statics.isEmpty()) {
            out.append("\n/* What is remembered from run to run. */\n");
            statics.forEach(s -> out.append(
                    "static " + s.dtype().cName() + " " + s.name() + "[" + s.elements() + "]" + alignment(s) + ";\n"));
        }
        unit.scratch().ifPresent(scratch -> out.append(CFilePrinter.print(unit.origin(), List.of(scratch(scratch)))));
        Set<String> called = UsedIntrinsics.calls(functions);
        out.append(CFilePrinter.print(unit.origin(), helpers(packed, called)));
        Set<String> tables = new HashSet<>();
        for (PrimFunc function : functions) {
            function.constants().stream()
                    .filter(t -> tables.add(t.symbol()))
                    .forEach(t -> out.append('\n').append(table(t)));
            out.append('\n')
                    .append(packed.find(function.name())
                            .map(f -> packed(unit, function, f, called.contains(f.name())))
                            .orElseGet(() ->
                                    CSignature.of(function).text() + ";\n" + FunctionPrinter.print(function, unit)));
        }
        return out.toString();
    }

    /** A micro-kernel, with all its functions where it is placed. */
    private static String definition(Kernel kernel, CodeUnit.RamSections ram) {
        return ram.functions().contains(kernel.name())
                ? FUNCTION.matcher(kernel.definition()).replaceAll(RamHeader.code("$1") + " $0")
                : kernel.definition();
    }

    private static Set<String> headers(CodeUnit unit, List<Intrinsic> intrinsics, List<Kernel> kernels) {
        List<PrimFunc> functions = unit.functions();
        Set<String> headers = new TreeSet<>(Set.of("stdint.h"));
        intrinsics.stream().map(Intrinsic::header).filter(h -> !h.isEmpty()).forEach(headers::add);
        kernels.forEach(k -> headers.addAll(k.headers()));
        if (UsedIntrinsics.bools(functions) || unit.statics().stream().anyMatch(s -> s.dtype() == DType.BOOL)) {
            headers.add("stdbool.h");
        }
        if (UsedIntrinsics.copies(functions)) {
            headers.add("string.h");
        }
        if (!unit.packed().functions().isEmpty()) {
            headers.remove("stdint.h");
            headers.add("tvm/runtime/c_runtime_api.h");
        }
        return headers;
    }

    private static CItem scratch(CodeUnit.Scratch scratch) {
        return new CItem.StaticBytes(
                "Scratch of the operator that runs.",
                scratch.memory().name(),
                String.valueOf(scratch.memory().bytes()),
                InterfaceNames.WORKSPACE_SECTION,
                scratch.alignment());
    }

    static List<CItem> helpers(PackedApi packed, Set<String> called) {
        List<PackedFunction> withTensors =
                packed.functions().stream().filter(f -> !f.tensors().isEmpty()).toList();
        boolean callsOne = withTensors.stream().anyMatch(f -> called.contains(f.name()));
        boolean checksOne = packed.checked() && !packed.functions().isEmpty();
        List<CItem> helpers = new ArrayList<>();
        if (checksOne || callsOne) {
            helpers.add(PackedText.helper(Helper.TYPES));
        }
        if (checksOne) {
            helpers.add(PackedText.helper(Helper.CHECKS));
        }
        if (!withTensors.isEmpty()) {
            helpers.add(PackedText.helper(Helper.DATA));
        }
        if (callsOne) {
            helpers.add(PackedText.helper(Helper.TENSOR));
        }
        return helpers;
    }

    /** The computing part of a packed function, and the function that unpacks the caller's arguments for it. */
    private static String packed(CodeUnit unit, PrimFunc function, PackedFunction packed, boolean called) {
        PrimFunc part = function.named(function.name() + "_compute");
        String result = part.name() + "(" + String.join(", ", PackedText.arguments(packed)) + ")";
        List<CItem> items = PackedText.definition(
                "", packed, unit.packed().checked(), called && !packed.tensors().isEmpty(), 0, result);
        return FunctionPrinter.printPart(part, function, unit) + CFilePrinter.print(unit.origin(), items);
    }

    /** Kernels load several elements of 16 bits as a word. */
    private static String alignment(Buffer state) {
        return state.dtype() == DType.INT16 && state.elements() > 1 ? " __attribute__((aligned(4)))" : "";
    }

    private static String place(PrimFunc.Table table) {
        if (table.pool().filter(InterfaceNames.RAM_CONSTANTS::equals).isPresent()) {
            return RamHeader.constants(table.symbol()) + " __attribute__((aligned(16)))";
        }
        return "__attribute__((" + (table.isShared() ? "weak, " : "") + "section(\"" + CodeUnit.section(table)
                + "\"), aligned(16)))";
    }

    /**
     * A constant table: weights, biases or a lookup table. Like TVM's, tables have a separate section, so that a linker script can place models apart from
     * other constants, and are aligned for vector loads.
     */
    private static String table(PrimFunc.Table table) {
        DType dtype = table.buffer().dtype();
        String comment = table.comment().isEmpty() ? "" : "/* " + CText.comment(table.comment()) + " */\n";
        StringBuilder out = new StringBuilder(comment + (table.isShared() ? "" : "static ") + "const " + dtype.cName()
                + " " + place(table) + " " + table.symbol() + "[" + table.data().size() / dtype.bytes() + "] = {\n");
        ByteBuffer data = table.data().buffer();
        int lineStart = out.length();
        out.append(' ');
        while (data.hasRemaining()) {
            int end = out.length();
            out.append(' ');
            append(out, dtype, data);
            out.append(',');
            if (out.length() - lineStart > WIDTH) {
                out.insert(end, "\n ");
                lineStart = end + 1;
            }
        }
        return out.append("\n};\n").toString();
    }

    /** Appends the next element; small types make no string of their own, since models have millions of such elements. */
    private static void append(StringBuilder out, DType dtype, ByteBuffer data) {
        switch (dtype) {
            case INT8 -> out.append(data.get());
            case UINT8, BOOL -> out.append(data.get() & 0xFF);
            case INT16 -> out.append(data.getShort());
            case INT32 -> out.append(int32(data.getInt()));
            case UINT32 -> out.append(data.getInt() & 0xFFFFFFFFL).append('u');
            case INT64 -> out.append(int64(data.getLong()));
            case UINT64 ->
                out.append("UINT64_C(")
                        .append(Long.toUnsignedString(data.getLong()))
                        .append(')');
            case FLOAT32 -> out.append(FloatLiteral.of(data.getInt()));
        }
    }

    private static String int32(int value) {
        return value == Integer.MIN_VALUE ? "INT32_MIN" : Integer.toString(value);
    }

    private static String int64(long value) {
        return value == Long.MIN_VALUE ? "INT64_MIN" : "INT64_C(" + value + ")";
    }
}
