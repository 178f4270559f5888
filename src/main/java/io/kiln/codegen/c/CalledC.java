// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.codegen.CodeUnit;
import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.UsedIntrinsics.PortableKernels;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.PrimFunc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The C for a unit whose loops are in another language: the functions that the loops call. Kernels and intrinsics are C, with assembly in it, and
 * stay C; so do functions with the packed signature, whose structs are those of TVM's headers.
 */
public final class CalledC {
    private static final String LIBRARY = "kiln_libm_";

    private CalledC() {}

    /** The name by which other languages call an intrinsic. A function of libm gets a wrapper, so that the C compiler sees it with its header. */
    public static String name(Intrinsic intrinsic) {
        return isOfLibrary(intrinsic) ? LIBRARY + intrinsic.name() : intrinsic.name();
    }

    private static boolean isOfLibrary(Intrinsic intrinsic) {
        return intrinsic.definition().isEmpty();
    }

    /** The name of the computing part of a packed function, which takes pointers. */
    public static String part(String function) {
        return function + "_compute";
    }

    /** The name of the function that takes pointers and calls a packed one. */
    public static String caller(String function) {
        return function + "_call";
    }

    /**
     * The C of the intrinsics and kernels that functions call, by their {@link #name}; empty if there are none.
     *
     * @param origin says whether kernels take their C twins, and how they are aligned
     */
    public static Optional<String> print(List<PrimFunc> functions, CodeOrigin origin) {
        List<Intrinsic> intrinsics = UsedIntrinsics.of(functions);
        List<Kernel> kernels = UsedIntrinsics.kernels(functions, origin.target());
        if (intrinsics.isEmpty() && kernels.isEmpty()) {
            return Optional.empty();
        }
        Set<String> headers = new TreeSet<>(Set.of("stdint.h", "string.h", "stdbool.h"));
        intrinsics.stream().map(Intrinsic::header).filter(h -> !h.isEmpty()).forEach(headers::add);
        kernels.forEach(kernel -> headers.addAll(kernel.headers()));
        StringBuilder out = new StringBuilder();
        headers.forEach(header -> out.append("#include <").append(header).append(">\n"));
        if (origin.portable()) {
            out.append(PortableKernels.directives());
        }
        intrinsics.forEach(
                i -> out.append('\n').append(isOfLibrary(i) ? inside(i) : external(i.name(), i.definition())));
        kernels.forEach(kernel -> out.append('\n').append(external(kernel.name(), kernel.definition())));
        return Optional.of(out.toString());
    }

    /** The definition with external linkage, so that the other language's code can be linked with it. */
    private static String external(String name, String definition) {
        return Pattern.compile("\\bstatic (?=[^\\n;{=]*\\b" + name + "\\()")
                .matcher(definition)
                .replaceAll("extern ");
    }

    private static String inside(Intrinsic intrinsic) {
        int count = intrinsic.parameters().size();
        String parameters = IntStream.range(0, count)
                .mapToObj(i -> intrinsic.parameters().get(i).cName() + " x" + i)
                .collect(Collectors.joining(", "));
        String arguments = IntStream.range(0, count).mapToObj(i -> "x" + i).collect(Collectors.joining(", "));
        return "extern inline __attribute__((always_inline)) "
                + intrinsic.result().cName() + " " + name(intrinsic) + "(" + parameters + ") {\n  return "
                + intrinsic.name() + "(" + arguments + ");\n}\n";
    }

    /** The packed functions of a unit, and functions that call them; empty if there are none. */
    public static Optional<String> packed(CodeUnit unit) {
        if (unit.packed().functions().isEmpty()) {
            return Optional.empty();
        }
        Set<String> called = UsedIntrinsics.calls(unit.functions());
        StringBuilder out = new StringBuilder(CFilePrinter.head(unit.origin()));
        out.append("\n#include <stdbool.h>\n#include <tvm/runtime/c_runtime_api.h>\n");
        out.append(CFilePrinter.print(unit.origin(), OperatorFilePrinter.helpers(unit.packed(), called)));
        for (PrimFunc function : unit.functions()) {
            unit.packed()
                    .find(function.name())
                    .ifPresent(f -> out.append(definition(unit, function, f, called.contains(f.name()))));
        }
        return Optional.of(out.toString());
    }

    private static String definition(CodeUnit unit, PrimFunc function, PackedFunction packed, boolean called) {
        CSignature part = CSignature.of(function.named(part(function.name())));
        String result = part.name() + "(" + String.join(", ", PackedText.arguments(packed)) + ")";
        List<CItem> items = new ArrayList<>(List.of(new CItem.Prototype("", part)));
        items.addAll(PackedText.definition(
                "", packed, unit.packed().checked(), called && !packed.tensors().isEmpty(), 0, result));
        String text = CFilePrinter.print(unit.origin(), items);
        return called ? text + caller(function, packed) : text;
    }

    private static String caller(PrimFunc function, PackedFunction packed) {
        CSignature signature = CSignature.of(function.named(caller(function.name())));
        List<String> pointers = function.buffers().stream()
                .map(buffer -> "(void*)" + buffer.name())
                .toList();
        List<String> integers =
                function.scalars().stream().map(scalar -> scalar.name()).toList();
        String body = PackedText.call(packed, pointers, integers).stream()
                .map(line -> "  " + line + "\n")
                .collect(Collectors.joining());
        return "\n" + signature.text() + ";\n" + signature.text() + " {\n" + body + "  return 0;\n}\n";
    }
}
