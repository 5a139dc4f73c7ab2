" Vim syntax of Warpfold's trace language (docs/trace_language.md).
" To install: copy syntax/ and ftdetect/ to ~/.vim.
if exists("b:current_syntax")
  finish
endif

syntax case match
syntax keyword wfsStatement kernel assumed parameter class grid stream ring cursor role loop block end
syntax keyword wfsOption architecture registers shared_memory tensor_memory cluster flops source read write dram l1 moved footprint depth arrivals free start warps
syntax keyword wfsEffect contained bytes wavefronts stream barrier cursor advance tx_bytes count multicast commit l1_hit l2_passes l2_sectors rows columns
syntax match wfsNumber /\<\d\+\>\|\<0x\x\+\>/
syntax match wfsRegister /\<\(R\|UR\|P\|UP\|SB\)\d\+\>\|\<\(RZ\|URZ\|PT\|UPT\)\>/
syntax match wfsGuard /@!\?U\?P[0-9T]/
syntax match wfsMnemonic /\<\u[A-Z0-9]*\(\.[A-Za-z0-9_]\+\)*\>\ze\( \|$\)/
syntax match wfsControl /\[B[-0-5]\{6}:R[-0-5]:W[-0-5]:[Y-]:S\d\d\]/
syntax region wfsEffects start=/{/ end=/}/ oneline contains=wfsEffect,wfsNumber
syntax region wfsString start=/"/ skip=/\\./ end=/"/ oneline
syntax match wfsComment /^\s*#.*$/

highlight default link wfsStatement Keyword
highlight default link wfsOption Identifier
highlight default link wfsEffect Identifier
highlight default link wfsNumber Number
highlight default link wfsRegister Type
highlight default link wfsGuard PreCondit
highlight default link wfsMnemonic Function
highlight default link wfsControl Special
highlight default link wfsString String
highlight default link wfsComment Comment

let b:current_syntax = "wfs"
