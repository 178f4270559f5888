// SPDX-License-Identifier: Apache-2.0
package io.kiln.executor;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.DlpackType;
import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.ModelIdentity;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.CText;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.codegen.c.CFile;
import io.kiln.codegen.c.CFile.CItem;
import io.kiln.codegen.c.CFile.CItem.Define;
import io.kiln.codegen.c.CFile.CSignature;
import io.kiln.codegen.c.CFile.CStatement;
import io.kiln.codegen.c.FloatLiteral;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * {@code tvmgen_<name>_tensors.h}: what programs know of a model's inputs and outputs by their positions, whatever their names are, and of
 * the model itself; functions that convert real numbers to quantized elements and back.
 */
public final class TensorHeader {
    private static final Set<DType> QUANTIZED = Set.of(DType.INT8, DType.UINT8, DType.INT16);
    private static final int FRACTION_BITS = 16;
    private static final int MULTIPLIER_BITS = 31;
    private static final int MOST_SHIFT = 62;

    private final PlannedModule module;
    private final InterfaceNames names;
    private final List<CItem> items = new ArrayList<>();

    private TensorHeader(PlannedModule module) {
        this.module = module;
        this.names = module.names();
    }

    public static Artifact of(PlannedModule module, ModelIdentity identity) {
        TensorHeader header = new TensorHeader(module);
        header.model(identity);
        header.tensors("input", module.api().inputs());
        header.tensors("output", module.api().outputs());
        return new CFile(
                        module.origin(),
                        header.names.tensorsHeader(),
                        Optional.of(header.names.macro("TENSORS_H_")),
                        List.of("<kiln/tensor.h>", "<stddef.h>", "<stdint.h>"),
                        header.items)
                .artifact();
    }

    private void model(ModelIdentity identity) {
        List<Define> defines = new ArrayList<>();
        defines.add(
                new Define(names.macro("MODEL"), CText.literal(module.origin().source())));
        if (!identity.version().isEmpty()) {
            defines.add(new Define(names.macro("MODEL_VERSION"), CText.literal(identity.version())));
        }
        if (!identity.sha256().isEmpty()) {
            defines.add(new Define(names.macro("MODEL_SHA256"), CText.literal(identity.sha256())));
        }
        items.add(new CItem.Defines("The model: its file, version and digest", defines));
    }

    private void tensors(String side, List<TensorInfo> tensors) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < tensors.size(); i++) {
            rows.add(tensor(side + "_" + i, tensors.get(i)));
        }
        String plural = side + "s";
        items.add(new CItem.Defines(
                "Number of " + plural, List.of(new Define(names.macro(plural), String.valueOf(tensors.size())))));
        if (!rows.isEmpty()) {
            String name = names.prefix() + "_" + side + "_tensors";
            items.add(new CItem.Constant(
                    "All " + plural, "const struct kiln_tensor " + name + "[" + rows.size() + "]", rows));
        }
    }

    /** Adds what programs know of a tensor, and gives its row of the table in the header. */
    private String tensor(String position, TensorInfo tensor) {
        String macro = names.macro(position);
        List<String> dims = tensor.shape().stream().map(String::valueOf).toList();
        List<Define> defines = new ArrayList<>();
        defines.add(new Define(macro, tensor.cName()));
        defines.add(new Define(macro + "_NAME", CText.literal(tensor.name())));
        defines.add(new Define(
                macro + "_TYPE",
                tensor.dtype() == DType.BOOL ? "uint8_t" : tensor.dtype().cName()));
        defines.add(new Define(macro + "_RANK", String.valueOf(dims.size())));
        defines.add(new Define(macro + "_SHAPE", String.join(", ", dims)));
        defines.add(new Define(macro + "_ELEMENTS", String.valueOf(tensor.elements())));
        defines.add(new Define(macro + "_BYTES", String.valueOf(tensor.bytes())));
        String scale = FloatLiteral.of(Float.floatToRawIntBits(tensor.scale()));
        if (tensor.scale() != 0) {
            defines.add(new Define(macro + "_SCALE", scale));
            defines.add(new Define(macro + "_ZERO_POINT", String.valueOf(tensor.zeroPoint())));
        }
        String what = position.replace('_', ' ') + ", " + tensor.name() + " "
                + tensor.dtype().text() + tensor.shape();
        items.add(new CItem.Defines(Character.toUpperCase(what.charAt(0)) + what.substring(1), defines));
        String shape = names.prefix() + "_" + position + "_shape";
        if (!dims.isEmpty()) {
            items.add(new CItem.Constant(
                    "", "const int32_t " + shape + "[" + dims.size() + "]", List.of(String.join(", ", dims))));
        }
        if (!tensor.labels().isEmpty()) {
            labels(names.prefix() + "_" + position + "_labels", macro, tensor.labels());
        }
        if (tensor.scale() != 0 && QUANTIZED.contains(tensor.dtype())) {
            conversions(position, tensor, scale);
        }
        return "{" + macro + "_NAME, " + DlpackType.of(tensor.dtype()).text() + ", " + dims.size() + ", "
                + (dims.isEmpty() ? "NULL" : shape) + ", " + tensor.elements() + "u, " + tensor.bytes() + "u, " + scale
                + ", " + tensor.zeroPoint() + "}";
    }

    private void labels(String table, String macro, List<String> labels) {
        int count = labels.size();
        items.add(new CItem.Defines("Number of labels", List.of(new Define(macro + "_LABELS", String.valueOf(count)))));
        items.add(new CItem.Constant(
                "What values or elements stand for",
                "const char *const " + table + "[" + count + "]",
                labels.stream().map(CText::literal).toList()));
    }

    private void conversions(String position, TensorInfo tensor, String scale) {
        String type = tensor.dtype().cName();
        String zero = String.valueOf(tensor.zeroPoint());
        String limits = tensor.dtype().min() + ", " + tensor.dtype().max();
        function(
                "The element of a real number, rounded to the nearest.",
                type + " " + names.prefix() + "_quantize_" + position + "(float value)",
                "(" + type + ")kiln_quantize(value, " + String.join(", ", scale, zero, limits) + ")");
        function(
                "The real number of an element.",
                "float " + names.prefix() + "_dequantize_" + position + "(" + type + " element)",
                "kiln_dequantize(element, " + scale + ", " + zero + ")");
        double stepsOfQ16 = Math.scalb(1 / (double) tensor.scale(), -FRACTION_BITS);
        rescaling(stepsOfQ16)
                .ifPresent(arguments -> function(
                        "The element of a real number in Q16.16, computed in integers.",
                        type + " " + names.prefix() + "_quantize_q16_" + position + "(int32_t value)",
                        "(" + type + ")kiln_clamp(" + zero + " + kiln_rescale(value, " + arguments + "), " + limits
                                + ")"));
        rescaling(Math.scalb((double) tensor.scale(), FRACTION_BITS))
                .ifPresent(arguments -> function(
                        "The real number of an element in Q16.16, computed in integers.",
                        "int32_t " + names.prefix() + "_dequantize_q16_" + position + "(" + type + " element)",
                        "kiln_clamp(kiln_rescale(element - (" + zero + "), " + arguments + "), INT32_MIN, INT32_MAX)"));
    }

    private void function(String comment, String declaration, String value) {
        int open = declaration.indexOf('(');
        int name = declaration.lastIndexOf(' ', open);
        items.add(new CItem.Definition(
                comment,
                new CSignature(
                        "static inline " + declaration.substring(0, name),
                        declaration.substring(name + 1, open),
                        List.of(declaration.substring(open + 1, declaration.length() - 1))),
                List.of(new CStatement.Return(value))));
    }

    /** Multiplier and shift of {@code kiln_rescale}; empty if the factor is out of its range. */
    private static Optional<String> rescaling(double factor) {
        QuantizedMultiplier multiplier = QuantizedMultiplier.of(factor);
        int shift = MULTIPLIER_BITS - multiplier.shift();
        return shift >= 1 && shift <= MOST_SHIFT && multiplier.multiplier() > 0
                ? Optional.of(multiplier.multiplier() + ", " + shift)
                : Optional.empty();
    }
}
