// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.codegen.CodeUnit.CodeOrigin;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CFile.CStatement;
import io.kiln.codegen.c.PackedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The system library of an image: a table of its packed functions, which {@code TVMSystemLibEntryPoint} gives to the runtime. It is part of
 * the model's entry point, or a file of its own where several models share it.
 */
public final class SystemLibrarySource {
    /** The file that several models share. No model has an empty name, so that none brings a file of this name. */
    public static final String SHARED_FILE = "lib0.c";

    /** The header that declares the types of a system library. */
    public static final String HEADER = "<tvm/runtime/crt/module.h>";

    private static final int BYTE = 256;

    private SystemLibrarySource() {}

    /**
     * A file with the functions of several models.
     *
     * @param origin of the models
     * @param functions their names, model by model
     */
    public static CFile shared(CodeOrigin origin, List<String> functions) {
        return file(origin, SHARED_FILE, functions);
    }

    /**
     * A file with nothing but a system library.
     *
     * @param functions what is in it; the file is empty without
     */
    public static CFile file(CodeOrigin origin, String fileName, List<String> functions) {
        List<CItem> items = new ArrayList<>();
        functions.forEach(name -> items.add(new CItem.Prototype("", PackedText.signature(name))));
        if (!functions.isEmpty()) {
            items.addAll(table(functions));
        }
        return new CFile(origin, fileName, Optional.empty(), List.of("<tvm/runtime/c_runtime_api.h>", HEADER), items);
    }

    /** The items of a system library behind the definition of the first function. */
    public static List<CItem> items(List<String> functions) {
        List<CItem> items = new ArrayList<>();
        functions.stream().skip(1).forEach(name -> items.add(new CItem.Prototype("", PackedText.signature(name))));
        items.addAll(table(functions));
        return items;
    }

    private static List<CItem> table(List<String> functions) {
        List<String> names = new ArrayList<>();
        int count = functions.size();
        names.add(String.format(Locale.ROOT, "\"\\%03o\\%03o\"", count % BYTE, count / BYTE));
        functions.forEach(name -> names.add("\"" + name + "\\0\""));
        return List.of(
                new CItem.Constant(
                        "",
                        "const TVMBackendPackedCFunc _tvm_func_array[" + count + "]",
                        functions.stream()
                                .map(name -> "(TVMBackendPackedCFunc)" + name)
                                .toList()),
                new CItem.Constant(
                        "The number of functions (16 bits), and their names.",
                        "const TVMFuncRegistry _tvm_func_registry",
                        List.of(String.join("\n    ", names), "_tvm_func_array")),
                new CItem.Constant("", "const TVMModule _tvm_system_lib", List.of("&_tvm_func_registry")),
                new CItem.Definition(
                        "The functions of this image that the runtime finds by their names.",
                        new CSignature("const TVMModule*", "TVMSystemLibEntryPoint", List.of()),
                        List.of(new CStatement.Return("&_tvm_system_lib"))));
    }
}
