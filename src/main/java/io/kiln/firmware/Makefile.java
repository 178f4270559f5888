// SPDX-License-Identifier: Apache-2.0
package io.kiln.firmware;

import io.kiln.process.ShellWords;
import io.kiln.toolchain.compiler.SourceKind;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Prints the makefile that builds the same image, byte for byte, without Maven. */
final class Makefile {
    /** Placeholder for the project's path, which make knows; no flag contains it. */
    private static final String HERE = "@HERE@";

    /** Placeholder for the folder of objects, which make knows. */
    private static final String BUILD = "@BUILD@";

    /** Text that needs no quoting in make or a shell. */
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@+,./-]+");

    private final FirmwareProject project;
    private final CommandLines lines;

    private Makefile(FirmwareProject project) {
        this.project = project;
        this.lines = new CommandLines(project);
    }

    static String print(FirmwareProject project) {
        return new Makefile(project).text();
    }

    private String text() {
        StringBuilder out = new StringBuilder();
        out.append("# SPDX-License-Identifier: Apache-2.0\n")
                .append("# Made by Kiln for ")
                .append(project.board().id())
                .append("; builds the image that Maven builds. This file is yours to use without conditions.\n")
                .append("# Another compiler: make CC=...; another folder for objects: make BUILD=...\n\n")
                .append("ifeq ($(origin CC),default)\nCC := ")
                .append(words(List.of(project.toolchain().compiler())))
                .append("\nendif\n")
                .append(strangers())
                .append("BUILD ?= build\nexport LC_ALL := C\n")
                .append("# A word as the shell reads it, whatever is in it.\nquoted = '$(subst ','\\'',$(1))'\n\n");
        for (SourceKind kind : kinds()) {
            out.append(flags(kind))
                    .append(" := ")
                    .append(words(lines.compileFlags(kind, HERE)))
                    .append('\n');
        }
        out.append("LINK_FLAGS := ")
                .append(words(lines.linkFlags(ProjectFiles.BOARD, project.linkerScript())))
                .append('\n');
        out.append("LIBRARIES := ").append(words(lines.libraries())).append("\n\n");
        out.append("OBJECTS :=");
        project.units().forEach(unit -> out.append(" \\\n  $(BUILD)/").append(escape(unit.object())));
        project.objects().forEach(object -> out.append(" \\\n  ").append(escape(object)));
        out.append("\n");
        linked(out);
        out.append("\n.PHONY: all clean\nall: $(BUILD)/firmware.elf\n\n");
        link(out);
        project.units().forEach(unit -> rule(out, unit));
        out.append("clean:\n\trm -rf $(BUILD)\n\n-include $(OBJECTS:.o=.d)\n");
        return out.toString();
    }

    /** A comment on how the makefile treats untrusted sources differently from Maven. */
    private String strangers() {
        return project.strangers().isEmpty()
                ? ""
                : "# Kiln compiles a checked text of what others wrote; make compiles the sources as they are, with all that they may read.\n";
    }

    /** The kinds of which there are sources. */
    private List<SourceKind> kinds() {
        return project.units().stream()
                .map(SourceUnit::kind)
                .distinct()
                .sorted()
                .toList();
    }

    /** The objects, quoted for the shell; make itself cannot handle names with blanks and quotes. */
    private void linked(StringBuilder out) {
        List<String> names = Stream.concat(
                        project.units().stream().map(unit -> BUILD + unit.object()), project.objects().stream())
                .toList();
        if (names.stream().allMatch(name -> PLAIN.matcher(name).matches())) {
            out.append("LINKED := $(OBJECTS)\n");
            return;
        }
        out.append("LINKED :=");
        names.forEach(name -> out.append(" \\\n  ").append(words(List.of(name)).replace(BUILD, "$(BUILD)/")));
        out.append('\n');
    }

    private void link(StringBuilder out) {
        out.append("$(BUILD)/firmware.elf: $(OBJECTS)");
        project.libraries().forEach(library -> out.append(' ').append(escape(library)));
        project.linkerScript().ifPresent(script -> out.append(' ').append(escape(ProjectFiles.BOARD + "/" + script)));
        String line = " '-Wl,-Map=$(BUILD)/firmware.map' -o $(call quoted,$@) $(LINKED) $(LIBRARIES)";
        out.append("\n\t$(CC) $(LINK_FLAGS)").append(line);
        // The first link fails only if a memory is too small; then the constants are placed differently.
        project.board()
                .moreLinker()
                .ifPresent(more -> out.append(" || \\\n\t  $(CC) $(LINK_FLAGS:%.ld=")
                        .append(ProjectFiles.BOARD)
                        .append('/')
                        .append(escape(more))
                        .append(")")
                        .append(line));
        out.append("\n\n");
    }

    private void rule(StringBuilder out, SourceUnit unit) {
        String object = "$(BUILD)/" + escape(unit.object());
        out.append(object)
                .append(": ")
                .append(escape(unit.path()))
                .append(" Makefile\n\t@mkdir -p \"$$(dirname $(call quoted,$@))\"\n\t$(CC) $(")
                .append(flags(unit.kind()))
                .append(") -MD -MP -MF $(call quoted,$(@:.o=.d)) -c $(call quoted,$<) -o $(call quoted,$@)\n\n");
    }

    private static String flags(SourceKind kind) {
        return kind.name().toUpperCase(Locale.ROOT) + "_FLAGS";
    }

    private static String words(List<String> words) {
        String text = words.stream().map(ShellWords::quote).collect(Collectors.joining(" "));
        return text.replace("$", "$$")
                .replace("#", "\\#")
                .replace("-prefix-map=" + HERE + "=.", "-prefix-map=$(call quoted,$(CURDIR))=.");
    }

    private static String escape(String path) {
        return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ");
    }
}
