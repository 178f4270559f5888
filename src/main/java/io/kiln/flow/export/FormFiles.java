// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.export;

import io.kiln.artifact.InterfaceNames;
import io.kiln.base.Bytes;
import io.kiln.base.ResourceTree;
import io.kiln.base.TextTemplate;
import io.kiln.target.Target;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** A library in the form of a build system: its files by path. */
final class FormFiles {
    private final SourceForm form;
    private final SourceLibrary library;

    private FormFiles(SourceForm form, SourceLibrary library) {
        this.form = form;
        this.library = library;
    }

    /** The files. Templates replace a model's file of the same name, so that it never hides one of them. */
    static SortedMap<String, Bytes> of(SourceForm form, SourceLibrary library) {
        FormFiles files = new FormFiles(form, library);
        TreeMap<String, Bytes> all = new TreeMap<>();
        library.sources().forEach((name, content) -> all.put(form.sources() + "/" + name, content));
        library.headers().forEach((name, content) -> all.put(form.headers() + "/" + name, content));
        library.proof().forEach((name, content) -> all.put(form.proof() + "/" + name, content));
        Map<String, Bytes> own = files.templates(form.text(), "");
        all.putAll(files.templates("headers", form.headers() + "/"));
        // The plain program, for forms that have none of their own.
        if (own.keySet().stream().noneMatch(name -> name.startsWith(form.proof() + "/"))) {
            all.putAll(files.templates("program", form.proof() + "/"));
        }
        all.putAll(own);
        all.putAll(files.templates("licence", ""));
        return all;
    }

    /** The templates of a folder with their values, by path below a folder of the library. */
    private Map<String, Bytes> templates(String folder, String below) {
        Map<String, String> values = values();
        Map<String, Bytes> filled = new TreeMap<>();
        ResourceTree.read("export/" + folder)
                .forEach((name, content) -> filled.put(
                        below + TextTemplate.filled(name, values),
                        Bytes.ofText(TextTemplate.filled(content.text(), values))));
        return filled;
    }

    /** A text of the form with its values. */
    static String filled(String template, SourceLibrary library) {
        return TextTemplate.filled(template, Map.of("NAME", library.name(), "VERSION", library.version()));
    }

    private Map<String, String> values() {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("NAME", library.name());
        values.put("MACRO", library.name().toUpperCase(Locale.ROOT));
        values.put("VERSION", library.version());
        values.put("MODELS", String.join(", ", library.models()));
        values.put("TARGET", library.target());
        values.put("SOURCES", lines("\n"));
        values.put("SOURCE_WORDS", lines(" \\\n"));
        values.put(
                "SOURCE_ELEMENTS",
                library.sources().keySet().stream()
                        .map(name -> "        <file category=\"" + (name.endsWith(".c") ? "sourceC" : "sourceAsm")
                                + "\" name=\"" + form.sources() + "/" + name + "\"/>")
                        .collect(Collectors.joining("\n")));
        values.put(
                "INCLUDES",
                library.models().stream()
                        .map(model -> "#include <" + new InterfaceNames(model).tensorsHeader() + ">\n#include <"
                                + new InterfaceNames(model).header() + ">")
                        .collect(Collectors.joining("\n")));
        values.put("CORE", core());
        return values;
    }

    private String lines(String between) {
        return library.sources().keySet().stream()
                .map(name -> "    " + form.sources() + "/" + name)
                .collect(Collectors.joining(between));
    }

    /** The requirement of a core, as packs name cores: {@code cortex-m0plus} is Cortex-M0+. Without a core there is none. */
    private String core() {
        return Target.parse(library.target())
                .mcpu()
                .filter(cpu -> cpu.startsWith("cortex-m"))
                .map(cpu -> cpu.replace("plus", "#").replaceFirst("[+].*", ""))
                .map(cpu -> cpu.replace("cortex-m", "Cortex-M").replace('#', '+'))
                .map(cpu -> "\n      <require Dcore=\"" + cpu + "\"/>")
                .orElse("");
    }
}
