// SPDX-License-Identifier: Apache-2.0
/** Artifacts, uploads and boards of a reactor, in terms of Maven. */
package io.kiln.maven.artifact;
