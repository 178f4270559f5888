// SPDX-License-Identifier: Apache-2.0
package io.kiln.compile;

import io.kiln.artifact.Artifact;
import io.kiln.artifact.ArtifactKind;
import io.kiln.base.WholeFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** The C of many models as one translation unit: starting a compiler takes longer than compiling an operator. */
public final class OneUnit {
    /** What names begin with that do not tell the model: those of helpers, which stand in the file of every model that calls them. */
    private static final String HELPER = "kiln_";

    private static final String POOL = "global_workspace";

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
                Set<String> own = local(file.content().text());
                own.forEach(name -> text.append("#define " + name + " " + prefix + "_" + name + "\n"));
                text.append("#include \"" + file.fileName() + "\"\n");
                own.forEach(name -> text.append("#undef " + name + "\n"));
            }
        }
        return text.toString();
    }

    /** The names in a source that other models have, too. Files are large, and regular expressions would take seconds for an image. */
    private static Set<String> local(String source) {
        Set<String> names = new TreeSet<>();
        for (int at = source.indexOf(HELPER); at >= 0; at = source.indexOf(HELPER, at + 1)) {
            int end = at + HELPER.length();
            while (end < source.length() && isWord(source.charAt(end))) {
                end++;
            }
            boolean isWhole = at == 0 || !isWord(source.charAt(at - 1));
            if (isWhole && end > at + HELPER.length()) {
                names.add(source.substring(at, end));
            }
        }
        if (source.contains("static uint8_t " + POOL + "[")) {
            names.add(POOL);
        }
        return names;
    }

    private static boolean isWord(char letter) {
        return letter == '_'
                || (letter >= '0' && letter <= '9')
                || (letter >= 'A' && letter <= 'Z')
                || (letter >= 'a' && letter <= 'z');
    }
}
