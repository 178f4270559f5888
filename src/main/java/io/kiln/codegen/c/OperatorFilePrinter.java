// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.DType;
import io.kiln.codegen.CodeUnit;
import io.kiln.tir.Buffer;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Prints functions of the loop IR, with their tables and the intrinsics they call, as one C file. */
final class OperatorFilePrinter {
    private OperatorFilePrinter() {}

    static String print(CodeUnit unit) {
        List<Buffer> statics = unit.statics();
        List<PrimFunc> functions = unit.functions();
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
        StringBuilder out = new StringBuilder(FileHead.print(unit.origin())).append('\n');
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
            out.append('\n')
                    .append(CSignature.of(function).text())
                    .append(";\n")
                    .append(FunctionPrinter.print(function));
        }
        return out.toString();
    }
}
