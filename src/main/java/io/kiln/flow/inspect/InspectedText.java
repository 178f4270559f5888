// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.inspect;

import io.kiln.artifact.ModelMetadata;
import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.artifact.OperatorInfo;
import io.kiln.firmware.image.MemoryTable;
import io.kiln.flow.inspect.Inspected.OfArchive;
import io.kiln.flow.inspect.Inspected.OfImage;
import io.kiln.flow.inspect.Inspected.OfLibrary;
import io.kiln.flow.inspect.Inspected.OfModel;
import io.kiln.flow.inspect.Inspected.OfText;
import io.kiln.flow.verify.TensorText;
import io.kiln.report.Table;
import java.util.ArrayList;
import java.util.List;

/** The contents of an inspected file, in lines for people. */
final class InspectedText {
    private InspectedText() {}

    static List<String> lines(Inspected file) {
        if (file instanceof OfModel model) {
            return model(model);
        }
        if (file instanceof OfArchive archive) {
            return ArchiveText.lines(archive.file());
        }
        if (file instanceof OfImage image) {
            return image(image);
        }
        if (file instanceof OfLibrary library) {
            return LibraryText.lines(library.file(), library.elf(), library.folder());
        }
        return ((OfText) file).lines();
    }

    private static List<String> model(OfModel file) {
        ModelMetadata model = file.model();
        List<String> lines = new ArrayList<>();
        lines.add("Model " + file.file() + " for " + model.target());
        model.inputs().forEach(tensor -> lines.add("  input  " + tensor(tensor)));
        model.outputs().forEach(tensor -> lines.add("  output " + tensor(tensor)));
        Table table = new Table("operator", "output", "MACs", "constants", "scratch");
        for (OperatorInfo operator : model.operators()) {
            table.row(
                    operator.op(),
                    shape(operator.outputs()),
                    operator.macs(),
                    operator.constantBytes(),
                    operator.workspaceBytes());
        }
        table.row(
                "total",
                "",
                model.operators().stream().mapToLong(OperatorInfo::macs).sum(),
                model.constantBytes(),
                "");
        lines.addAll(table.lines());
        lines.add("workspace " + model.workspaceBytes() + " bytes by "
                + model.plan().algorithm() + ", lower bound " + model.plan().lowerBound());
        if (file.stateBytes() > 0) {
            lines.add("state " + file.stateBytes() + " bytes, kept between runs");
        }
        lines.addAll(NpuParts.lines(file.npuParts()));
        lines.add("graph: " + file.drawing());
        return lines;
    }

    private static List<String> image(OfImage image) {
        List<String> lines = new ArrayList<>();
        lines.add("Image " + image.file() + " on the board " + image.board());
        MemoryTable.table(image.measured()).lines().forEach(lines::add);
        return lines;
    }

    private static String tensor(TensorInfo tensor) {
        String quantization =
                tensor.scale() == 0 ? "" : ", scale " + tensor.scale() + ", zero point " + tensor.zeroPoint();
        return TensorText.type(tensor) + quantization;
    }

    private static String shape(List<TensorInfo> tensors) {
        return String.join(
                " ",
                tensors.stream()
                        .map(t -> t.dtype().text() + t.shape().toString().replace(" ", ""))
                        .toList());
    }
}
