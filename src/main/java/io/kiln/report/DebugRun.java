// SPDX-License-Identifier: Apache-2.0
package io.kiln.report;

import java.util.Map;
import java.util.TreeMap;

/**
 * A run configuration of CLion that connects its debugger to a server that runs already.
 *
 * @param name shown by the editor
 * @param server address of the server
 * @param image the ELF file
 */
public record DebugRun(String name, String server, String image) {
    /** What the editor replaces by the folder that it has opened. */
    public static final String PROJECT = "$PROJECT_DIR$";

    /** The content of a {@code .run.xml} file. Names in debug information are relative to the project. */
    public String xml() {
        Map<String, String> attributes = new TreeMap<>(Map.of(
                "default", "false",
                "name", name,
                "type", "CLion_Remote",
                "version", "1",
                "remoteCommand", server,
                "symbolFile", image,
                "sysroot", ""));
        StringBuilder out = new StringBuilder("<component name=\"ProjectRunConfigurationManager\">\n  <configuration");
        attributes.forEach((key, value) ->
                out.append(' ').append(key).append("=\"").append(escaped(value)).append('"'));
        return out.append(">\n    <debugger kind=\"GDB\" isBundled=\"true\" />\n")
                .append("    <pathMapping remote=\".\" local=\"" + PROJECT + "\" />\n")
                .append("    <method v=\"2\" />\n  </configuration>\n</component>\n")
                .toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
