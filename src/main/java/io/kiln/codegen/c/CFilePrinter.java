// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.tir.Buffer;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Prints functions of the loop IR, with their tables and the intrinsics they call, as one C file. */
public final class CFilePrinter {
    private CFilePrinter() {}

    /**
     * The file's text.
     *
     * @param head comment lines at the top
     * @param statics static memory of the functions
     * @param functions in the order of the file; calls go backwards
     */
    public static String print(String head, List<Buffer> statics, List<PrimFunc> functions) {
        List<Intrinsic> intrinsics = UsedIntrinsics.of(functions);
        Set<String> headers = new TreeSet<>(Set.of("stdint.h", "string.h"));
        intrinsics.stream().map(Intrinsic::header).filter(h -> !h.isEmpty()).forEach(headers::add);
        List<Kernel> kernels = UsedIntrinsics.kernels(functions);
        kernels.forEach(k -> headers.addAll(k.headers()));
        if (UsedIntrinsics.bools(functions) || statics.stream().anyMatch(s -> s.dtype() == DType.BOOL)) {
            headers.add("stdbool.h");
        }
        if (!UsedIntrinsics.copies(functions)) {
            headers.remove("string.h");
        }
        StringBuilder out = new StringBuilder(head).append('\n');
        out.append(headers.stream().map(h -> "#include <" + h + ">\n").collect(Collectors.joining()));
        intrinsics.stream()
                .filter(i -> !i.definition().isEmpty())
                .forEach(i -> out.append('\n').append(i.definition()));
        kernels.forEach(k -> out.append('\n').append(k.definition()));
        if (!statics.isEmpty()) {
            out.append("\n/* What is remembered from run to run. */\n");
            statics.forEach(
                    s -> out.append("static " + s.dtype().cName() + " " + s.name() + "[" + s.elements() + "];\n"));
        }
        for (PrimFunc function : functions) {
            function.constants().forEach(t -> out.append('\n').append(TablePrinter.print(t)));
            out.append('\n').append(prototype(function)).append(FunctionPrinter.print(function));
        }
        return out.toString();
    }

    /** Whether a function's declaration needs stdbool.h. */
    public static boolean declaresBool(PrimFunc function) {
        return function.buffers().stream().anyMatch(buffer -> buffer.dtype() == DType.BOOL);
    }

    /** The declaration of a function, ended by a newline. */
    public static String prototype(PrimFunc function) {
        return FunctionPrinter.signature(function) + ";\n";
    }
}
