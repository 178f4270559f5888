// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.artifact.DlpackType;
import io.kiln.base.ResourceTree;
import io.kiln.codegen.PackedApi.PackedFunction;
import io.kiln.codegen.PackedApi.PackedFunction.Tensor;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CFile.CStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * C of functions with the packed signature, {@code TVMBackendPackedCFunc} of tvm/runtime/c_backend_api.h: what they check, how they get at their
 * tensors, and how they are called. The helpers lie as C files in {@code templates/packed}.
 */
public final class PackedText {
    /** Names of the parameters, in order. */
    private static final List<String> PARAMETERS = List.of(
            "TVMValue* args",
            "int* type_codes",
            "int num_args",
            "TVMValue* out_ret_value",
            "int* out_ret_tcode",
            "void* resource_handle");

    private PackedText() {}

    /** The signature that all packed functions have. */
    public static CSignature signature(String name) {
        return new CSignature("TVM_DLL int32_t", name, PARAMETERS);
    }

    /** A helper, by the name of its file. */
    static CItem helper(Helper helper) {
        return new CItem.Code(
                ResourceTree.read("templates/packed").get(helper.file).text());
    }

    /** Helpers that are printed where they are used. */
    enum Helper {
        /** {@code struct kiln_tensor_type}. */
        TYPES("types.h"),
        /** {@code kiln_check_arguments}. */
        CHECKS("checks.h"),
        /** {@code kiln_data}. */
        DATA("data.h"),
        /** {@code kiln_tensor}. */
        TENSOR("tensor.h");

        private final String file;

        Helper(String file) {
            this.file = file;
        }
    }

    /** The helpers of a source that defines packed functions but calls none. */
    public static List<CItem> helpers(boolean checked) {
        List<CItem> helpers = new ArrayList<>();
        if (checked) {
            helpers.add(helper(Helper.TYPES));
            helpers.add(helper(Helper.CHECKS));
        }
        helpers.add(helper(Helper.DATA));
        return helpers;
    }

    /** {@code <function>_tensors}: what a function expects of its tensors; nothing for one that takes none. */
    static List<CItem> types(PackedFunction function) {
        List<CItem> items = new ArrayList<>();
        List<String> types = new ArrayList<>();
        for (int i = 0; i < function.tensors().size(); i++) {
            Tensor tensor = function.tensors().get(i);
            int rank = tensor.shape().size();
            String shape = function.name() + "_shape" + i;
            if (rank > 0) {
                List<String> dims = tensor.shape().stream().map(String::valueOf).toList();
                items.add(new CItem.Constant(
                        "", "const int64_t " + shape + "[" + rank + "]", List.of(String.join(", ", dims))));
            }
            types.add("{" + (rank > 0 ? shape : "NULL") + ", " + rank + ", "
                    + DlpackType.of(tensor.dtype()).text() + "}");
        }
        if (!types.isEmpty()) {
            items.add(new CItem.Constant(
                    "", "const struct kiln_tensor_type " + tensors(function) + "[" + types.size() + "]", types));
        }
        return items;
    }

    /**
     * {@code <function>_signature}: the checks of a function's arguments.
     *
     * @param further arguments that it may be given beside
     */
    static List<CItem> checks(PackedFunction function, int further) {
        List<String> names = new ArrayList<>();
        function.tensors().forEach(tensor -> names.add(tensor.name()));
        names.addAll(function.integers());
        List<CItem> items = new ArrayList<>();
        if (!names.isEmpty()) {
            items.add(new CItem.Constant(
                    "",
                    "const char* const " + function.name() + "_names[" + names.size() + "]",
                    List.of(names.stream().map(PackedText::quoted).collect(Collectors.joining(", ")))));
        }
        items.add(new CItem.Constant(
                "",
                "const struct kiln_signature " + function.name() + "_signature",
                List.of(
                        quoted(function.name()),
                        names.isEmpty() ? "NULL" : function.name() + "_names",
                        function.tensors().isEmpty() ? "NULL" : tensors(function),
                        function.tensors().size() + ", " + function.integers().size() + ", " + further,
                        String.valueOf(function.most()))));
        return items;
    }

    /**
     * The definition of a packed function with the tables that it needs.
     *
     * @param comment what it does
     * @param called whether the file calls it, so that its tensors' types are needed for that
     * @param further arguments that it may be given beside; they are not looked at
     * @param result what it returns: a C expression of {@link #arguments}
     */
    public static List<CItem> definition(
            String comment, PackedFunction function, boolean checked, boolean called, int further, String result) {
        List<CItem> items = new ArrayList<>();
        List<CStatement> body = new ArrayList<>();
        if (checked || called) {
            items.addAll(types(function));
        }
        if (checked) {
            items.addAll(checks(function, further));
            body.add(new CStatement.Demand(
                    "kiln_check_arguments(&" + function.name() + "_signature, args, type_codes, num_args)"));
        } else {
            if (function.arguments() == 0) {
                body.add(new CStatement.Ignore("args"));
            }
            body.add(new CStatement.Ignore("type_codes"));
            body.add(new CStatement.Ignore("num_args"));
        }
        body.addAll(0, unused());
        body.add(new CStatement.Return(result));
        items.add(new CItem.Definition(comment, signature(function.name()), body));
        return items;
    }

    /** Marks the parameters for a packed result as unused. */
    static List<CStatement> unused() {
        return List.of(
                new CStatement.Ignore("out_ret_value"),
                new CStatement.Ignore("out_ret_tcode"),
                new CStatement.Ignore("resource_handle"));
    }

    /** The arguments of a packed function as a function of the loop IR takes them. */
    public static List<String> arguments(PackedFunction function) {
        List<String> arguments = new ArrayList<>();
        for (int i = 0; i < function.arguments(); i++) {
            arguments.add(
                    i < function.tensors().size() ? "kiln_data(&args[" + i + "])" : "(int32_t)args[" + i + "].v_int64");
        }
        return arguments;
    }

    /**
     * The lines that call a packed function with its arguments on the stack, and leave the caller if it fails.
     *
     * @param pointers to the elements of its tensors
     */
    static List<String> call(PackedFunction function, List<String> pointers, List<String> integers) {
        int count = function.arguments();
        List<String> lines = new ArrayList<>();
        if (!pointers.isEmpty()) {
            lines.add("DLTensor stack_array[" + pointers.size() + "] = {"
                    + IntStream.range(0, pointers.size())
                            .mapToObj(
                                    i -> "kiln_tensor(&" + tensors(function) + "[" + i + "], " + pointers.get(i) + ")")
                            .collect(Collectors.joining(", "))
                    + "};");
        }
        if (count > 0) {
            List<String> values = new ArrayList<>();
            List<String> codes = new ArrayList<>();
            for (int i = 0; i < pointers.size(); i++) {
                values.add("{.v_handle = &stack_array[" + i + "]}");
                codes.add("kTVMDLTensorHandle");
            }
            integers.forEach(integer -> {
                values.add("{.v_int64 = " + integer + "}");
                codes.add("kTVMArgInt");
            });
            lines.add("TVMValue stack_value[" + count + "] = {" + String.join(", ", values) + "};");
            lines.add("int stack_tcode[" + count + "] = {" + String.join(", ", codes) + "};");
        }
        lines.add("TVMValue ret_val = {.v_handle = NULL};");
        lines.add("int ret_type_code = kTVMNullptr;");
        String arguments = count > 0 ? "stack_value, stack_tcode, " + count : "NULL, NULL, 0";
        lines.add("if (" + function.name() + "(" + arguments + ", &ret_val, &ret_type_code, NULL) != 0) {");
        lines.add("  return -1;");
        lines.add("}");
        return lines;
    }

    private static String tensors(PackedFunction function) {
        return function.name() + "_tensors";
    }

    private static String quoted(String text) {
        return "\"" + text + "\"";
    }
}
