// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.InterfaceNames;
import io.kiln.artifact.InterfaceNames.Side;
import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.flow.verify.VerificationCases;
import io.kiln.report.VerifyReport.Tolerance;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Prints {@code kiln_proof.c}: the vectors of a verification, and functions that run the models on them and compare. */
final class ProofSource {
    private static final int ALIGNMENT = 16;
    private static final int BYTES_IN_A_LINE = 20;

    /** Most bytes of cases in an example, so that it fits beside the models. One case of each model is always included. */
    private static final long MOST_BYTES = 1 << 16;

    private final StringBuilder out = new StringBuilder();

    private ProofSource() {}

    static String print(List<VerificationCases> models) {
        ProofSource source = new ProofSource();
        source.head(models);
        models.forEach(source::model);
        source.all(models);
        return source.out.toString();
    }

    /** Cases of a model that the example holds. */
    static int cases(VerificationCases model) {
        long one = tensors(model.model()).mapToLong(TensorInfo::bytes).sum();
        long fit = Math.max(1, MOST_BYTES / Math.max(1, one));
        return (int) Math.min(model.cases().size(), fit);
    }

    private static Stream<TensorInfo> tensors(ModelMetadata model) {
        return Stream.concat(model.inputs().stream(), model.outputs().stream());
    }

    private void head(List<VerificationCases> models) {
        line("/* SPDX-License-Identifier: Apache-2.0");
        line(" * Made by Kiln: vectors whose answers are known. This file is yours to use without conditions.");
        line(" */");
        line("#include \"kiln_proof.h\"");
        models.forEach(
                model -> line("#include <" + new InterfaceNames(model.model().name()).header() + ">"));
        line("#include <string.h>");
        line("");
        boolean isFloat = models.stream()
                .flatMap(model -> model.model().outputs().stream())
                .anyMatch(output -> output.dtype().isFloat());
        if (isFloat) {
            line("/* Whether floats are as close as compilers leave them; NaN matches NaN, and what is infinite"
                    + " itself alone. */");
            line("static int is_close(float actual, float expected) {");
            line("  float distance = actual > expected ? actual - expected : expected - actual;");
            line("  float size = expected < 0.0f ? -expected : expected;");
            line("  return actual == expected || (actual != actual && expected != expected) ||");
            line("         (expected - expected == 0.0f &&");
            line("          distance <= " + (float) Tolerance.FLOAT.absolute() + "f + "
                    + (float) Tolerance.FLOAT.relative() + "f * size);");
            line("}");
            line("");
        }
    }

    private void model(VerificationCases model) {
        String name = model.model().name();
        int cases = cases(model);
        for (int i = 0; i < model.model().inputs().size(); i++) {
            int index = i;
            vectors(
                    name + "_input_" + i,
                    model.model().inputs().get(i),
                    model.cases().subList(0, cases).stream()
                            .map(each -> each.inputs().get(index))
                            .toList());
        }
        for (int i = 0; i < model.model().outputs().size(); i++) {
            int index = i;
            TensorInfo output = model.model().outputs().get(i);
            vectors(
                    name + "_output_" + i,
                    output,
                    model.expected().subList(0, cases).stream()
                            .map(each -> each.get(index))
                            .toList());
            line("static uint8_t " + name + "_answer_" + i + "[" + padded(output) + "] __attribute__((aligned("
                    + ALIGNMENT + ")));");
            line("");
        }
        function(model.model(), cases);
    }

    /** Prints the vectors of a tensor: one row for each case, each as aligned as any element needs. */
    private void vectors(String name, TensorInfo tensor, List<Bytes> rows) {
        line("/* " + tensor.dtype().text() + tensor.shape() + " */");
        line("static const uint8_t " + name + "[" + rows.size() + "][" + padded(tensor) + "] __attribute__((aligned("
                + ALIGNMENT + "))) = {");
        for (Bytes row : rows) {
            line("  {");
            byte[] bytes = row.toArray();
            for (int at = 0; at < bytes.length; at += BYTES_IN_A_LINE) {
                StringBuilder text = new StringBuilder("   ");
                for (int i = at; i < Math.min(at + BYTES_IN_A_LINE, bytes.length); i++) {
                    text.append(String.format(Locale.ROOT, " 0x%02x,", bytes[i] & 0xff));
                }
                line(text.toString());
            }
            line("  },");
        }
        line("};");
        line("");
    }

    private static long padded(TensorInfo tensor) {
        return (tensor.bytes() + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private void function(ModelMetadata model, int cases) {
        String name = model.name();
        InterfaceNames names = new InterfaceNames(name);
        line("/* Number of wrong answers of " + name + " in " + cases + " cases. */");
        line("static int prove_" + name + "(void) {");
        line("  int wrong = 0;");
        line("  for (int i = 0; i < " + cases + "; ++i) {");
        line("    " + names.struct(Side.INPUTS) + " inputs;");
        line("    " + names.struct(Side.OUTPUTS) + " outputs;");
        line("    int is_right;");
        for (int i = 0; i < model.inputs().size(); i++) {
            line("    inputs." + model.inputs().get(i).cName() + " = " + name + "_input_" + i + "[i];");
        }
        for (int i = 0; i < model.outputs().size(); i++) {
            line("    outputs." + model.outputs().get(i).cName() + " = " + name + "_answer_" + i + ";");
        }
        if (tensors(model).noneMatch(tensor -> tensor.cName().equalsIgnoreCase("state"))) {
            line("#ifdef " + names.stateSize());
            line("    (void)" + names.reset() + "();");
            line("#endif");
        }
        line("    is_right = " + names.run() + "(&inputs, &outputs) == 0;");
        for (int i = 0; i < model.outputs().size(); i++) {
            compare(name, i, model.outputs().get(i));
        }
        line("    wrong += !is_right;");
        line("  }");
        line("  return wrong;");
        line("}");
        line("");
    }

    private void compare(String name, int index, TensorInfo output) {
        String answer = name + "_answer_" + index;
        String expected = name + "_output_" + index + "[i]";
        if (output.dtype().isFloat()) {
            line("    for (int k = 0; k < " + output.elements() + "; ++k) {");
            line("      float actual;");
            line("      float wanted;");
            line("      memcpy(&actual, " + answer + " + 4 * k, sizeof actual);");
            line("      memcpy(&wanted, " + expected + " + 4 * k, sizeof wanted);");
            line("      is_right &= is_close(actual, wanted);");
            line("    }");
        } else {
            line("    is_right &= memcmp(" + answer + ", " + expected + ", " + output.bytes() + ") == 0;");
        }
    }

    private void all(List<VerificationCases> models) {
        int cases = models.stream().mapToInt(ProofSource::cases).sum();
        line("int kiln_proof_cases(void) {");
        line("  return " + cases + ";");
        line("}");
        line("");
        line("int kiln_proof(void) {");
        line("  int wrong = 0;");
        models.forEach(model -> line("  wrong += prove_" + model.model().name() + "();"));
        line("  return wrong;");
        line("}");
    }

    private void line(String text) {
        out.append(text).append('\n');
    }
}
