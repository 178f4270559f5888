// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.base.WholeFiles;
import io.kiln.ir.text.RelayPrinter;
import io.kiln.lower.LoweredOperator;
import io.kiln.tir.PrimFunc;
import io.kiln.tir.TirPrinter;
import io.kiln.transform.Pipeline.Stage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Writes the IR after each pass as Relay text, {@code NN-<pass>.relay}, where the number is the pass's position in the
 * pipeline. The last file is {@code NN-lower.tir}, the loops from which the C is printed, with each operator's chosen
 * schedule.
 */
public final class IrDump {
    private IrDump() {}

    /** Writes a model's stages and loops into a folder and returns the files. */
    public static List<Path> write(CompiledModel model, Path folder) {
        List<Path> written = new ArrayList<>();
        for (Stage stage : model.stages()) {
            written.add(write(folder, stage.index(), stage.pass() + ".relay", RelayPrinter.print(stage.function())));
        }
        Stage last = model.stages().get(model.stages().size() - 1);
        written.add(write(folder, last.index() + 1, "lower.tir", loops(model)));
        return written;
    }

    private static Path write(Path folder, int index, String name, String text) {
        Path file = folder.resolve(String.format(Locale.ROOT, "%02d-%s", index, name));
        WholeFiles.write(file, text);
        return file;
    }

    /** All functions in the order of the C file. */
    static String loops(CompiledModel model) {
        Map<String, LoweredOperator> operators = model.module().operators().stream()
                .collect(Collectors.toMap(operator -> operator.function().name(), Function.identity()));
        return model.code().functions().stream()
                .map(function -> schedule(function, operators) + TirPrinter.print(function))
                .collect(Collectors.joining("\n"));
    }

    private static String schedule(PrimFunc function, Map<String, LoweredOperator> operators) {
        LoweredOperator operator = operators.get(function.name());
        return operator == null ? "" : "// schedule " + operator.schedule() + ": " + operator.reason() + "\n";
    }
}
