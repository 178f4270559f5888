// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.artifact.NamedTensor;
import io.kiln.base.Failure;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.ir.text.RelaySyntax.Param;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Finds tensors of a parameters file by their names in the text. TVM's printer (RelayTextPrinter::AllocVar) puts a
 * {@code v} before a name that does not begin with an ASCII letter, and appends a number to a name that was printed
 * before; the file has the original names. Text with the original names is accepted too.
 */
final class ParameterNames {
    private final List<Param> params;
    private final List<NamedTensor> tensors;
    private final String file;
    private final Findings findings;
    private final Set<String> printed;

    /**
     * @param params the parameters declared by the text
     * @param tensors the tensors in the file
     * @param file the file's name in messages
     */
    ParameterNames(List<Param> params, List<NamedTensor> tensors, String file, Findings findings) {
        this.params = params;
        this.tensors = tensors;
        this.file = file;
        this.findings = findings;
        this.printed = params.stream().map(Param::name).collect(Collectors.toSet());
    }

    /** Whether no tensor is one of the text's parameters: they belong to something else that lies beside the text, such as a graph. */
    boolean areForeign() {
        return tensors.stream().noneMatch(t -> params.stream().anyMatch(p -> isPrinted(t.name(), p.name())));
    }

    /** The tensors by their names in the text; a tensor without a parameter, or with several, is reported. */
    Map<String, NamedTensor> find(String function) {
        Map<String, NamedTensor> found = new HashMap<>();
        Map<String, List<NamedTensor>> claims = new LinkedHashMap<>();
        for (NamedTensor tensor : tensors) {
            Optional<Param> param = param(tensor, function);
            param.ifPresent(p ->
                    claims.computeIfAbsent(p.name(), name -> new ArrayList<>()).add(tensor));
        }
        claims.forEach((name, all) -> {
            found.put(name, all.get(0));
            if (all.size() > 1) {
                ambiguous("the names "
                        + all.stream().map(t -> "`" + t.name() + "`").collect(Collectors.joining(" and "))
                        + " are all printed as %" + name);
            }
        });
        return found;
    }

    private Optional<Param> param(NamedTensor tensor, String function) {
        List<Param> candidates =
                params.stream().filter(p -> isPrinted(tensor.name(), p.name())).toList();
        if (candidates.size() > 1) {
            List<Param> fitting = candidates.stream()
                    .filter(p -> DefinedFunction.fits(p, tensor))
                    .toList();
            candidates = fitting.isEmpty() ? candidates.subList(0, 1) : fitting;
        }
        if (candidates.isEmpty()) {
            findings.add(Failure.MODEL.problem(
                    function + " has no parameter %" + tensor.name(),
                    file,
                    "only tensors that it names",
                    DefinedFunction.EXPORT_AGAIN));
        } else if (candidates.size() > 1) {
            ambiguous("`" + tensor.name() + "` may be any of "
                    + candidates.stream().map(p -> "%" + p.name()).collect(Collectors.joining(", ")));
        }
        return candidates.stream().findFirst();
    }

    private void ambiguous(String what) {
        findings.add(Failure.MODEL.problem(
                what,
                file,
                "names that differ in the text",
                "Rename the parameters in the model, or print it with its constants in the metadata section"));
    }

    /** Whether a name of the file can be printed as this one in the text. */
    private boolean isPrinted(String name, String inText) {
        String alone = printed(name);
        if (printed.contains(name) && !name.equals(alone)) {
            // TVM's printer never writes such a name: another program wrote the text, with the names of the file.
            return inText.equals(name);
        }
        return inText.equals(alone) || isAgain(name, alone, inText);
    }

    /** Whether a name was printed a second time; two names collide in the text only if one of them got a {@code v}. */
    private boolean isAgain(String name, String alone, String inText) {
        boolean shared = !name.equals(alone) || (alone.startsWith("v") && !beginsWithLetter(alone.substring(1)));
        boolean isNumbered = inText.length() > alone.length()
                && inText.startsWith(alone)
                && inText.substring(alone.length()).chars().allMatch(c -> c >= '0' && c <= '9');
        return shared
                && isNumbered
                && printed.contains(alone)
                && tensors.stream()
                        .noneMatch(other -> other.name().equals(inText)
                                || printed(other.name()).equals(inText));
    }

    private static String printed(String name) {
        return beginsWithLetter(name) ? name : "v" + name;
    }

    private static boolean beginsWithLetter(String name) {
        return !name.isEmpty() && ((name.charAt(0) | 0x20) >= 'a' && (name.charAt(0) | 0x20) <= 'z');
    }
}
