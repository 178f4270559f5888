// SPDX-License-Identifier: Apache-2.0
/** Descriptors written in YAML: read in bounded memory, every value with its line, checked against their schema. */
package io.kiln.toolchain.yaml;
