// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** The C of many models as one translation unit: starting a compiler takes longer than compiling an operator. */
public final class OneUnit {
    /** Names that do not tell the model: those of helpers, which stand in the file of every model that calls them, and the pool's. */
    private static final Pattern LOCAL = Pattern.compile("\\bkiln_\\w+|(?<=static uint8_t )global_workspace(?=\\[)");

    private OneUnit() {}

    /**
     * Writes a model's files and includes its sources. Its helpers and its pool get names of their own, so that it cannot
     * use those of another model.
     */
    public static String of(Path folder, String prefix, List<Artifact> files) {
        StringBuilder text = new StringBuilder();
        for (Artifact file : files) {
            if (file.kind() == ArtifactKind.SOURCE || file.kind() == ArtifactKind.HEADER) {
                WholeFiles.write(folder.resolve(file.fileName()), file.content().toArray());
            }
            if (file.kind() == ArtifactKind.SOURCE) {
                Set<String> own = new TreeSet<>();
                LOCAL.matcher(file.content().text()).results().forEach(name -> own.add(name.group()));
                own.forEach(name -> text.append("#define " + name + " " + prefix + "_" + name + "\n"));
                text.append("#include \"" + file.fileName() + "\"\n");
                own.forEach(name -> text.append("#undef " + name + "\n"));
            }
        }
        return text.toString();
    }
}
