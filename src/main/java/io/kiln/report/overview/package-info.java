// SPDX-License-Identifier: Apache-2.0
/** The page of a build: memory, operators, proof and graph together. */
package io.kiln.report.overview;
