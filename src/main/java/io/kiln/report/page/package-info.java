// SPDX-License-Identifier: Apache-2.0
/** Pages of XHTML for people: well-formed XML that loads no resources and has no scripts. */
package io.kiln.report.page;
